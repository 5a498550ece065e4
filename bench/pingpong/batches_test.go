package pingpong

import (
	"slices"
	"testing"
	"time"
)

func TestBatchSize(t *testing.T) {
	for _, c := range []struct {
		count int
		each  time.Duration
		want  int
	}{
		{200_000, 300 * time.Nanosecond, 200}, // no more than mostBatches
		{5_000, 400 * time.Nanosecond, 50},
		{500, 400 * time.Microsecond, 1},
		{21, 400 * time.Nanosecond, 2}, // not fewer than fewBatches
		{1, time.Second, 1},
		{1000, 0, 100},
	} {
		if got := batchSize(c.count, c.each); got != c.want {
			t.Errorf("%d of %v: batches of %d, want %d", c.count, c.each, got, c.want)
		}
	}
}

// counting is a course that only counts.
type counting struct{ exchanges, batches []int }

func (*counting) park() error             { return nil }
func (*counting) clear() (float64, error) { return 0, nil }
func (*counting) end(int) error           { return nil }
func (c *counting) begin(_, count int) error {
	c.exchanges = append(c.exchanges, count)
	return nil
}
func (c *counting) exchange(_, count int) error {
	c.batches = append(c.batches, count)
	return nil
}

func TestTimedMakesEveryExchangeOnce(t *testing.T) {
	for _, c := range []struct{ count, size int }{{1, 1}, {7, 3}, {9, 3}, {10, 20}, {1000, 1}} {
		var course counting
		samples, err := timed(&course, 0, c.count, c.size)
		sum := 0
		for _, n := range course.batches {
			sum += n
		}
		if err != nil || sum != c.count || len(samples) != len(course.batches) || slices.Min(course.batches) < min(c.size, c.count) {
			t.Errorf("%+v: batches %v, %d samples, %v", c, course.batches, len(samples), err)
		}
	}
}

func TestIterationsAsAsked(t *testing.T) {
	var course counting
	p := Plan{Lengths: []int{0, 8}, Iterations: 5, Warmup: 3}
	results := 0
	err := measure(&course, &p, Watcher{
		Began:  func() error { return nil },
		Result: func(r Result) error { results += r.Iterations; return nil },
	})
	if err != nil || results != 10 || !slices.Equal(course.exchanges, []int{3, 5, 3, 5}) {
		t.Errorf("%d iterations of %v, %v", results, course.exchanges, err)
	}
}
