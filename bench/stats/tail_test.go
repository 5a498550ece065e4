package stats_test

import (
	"math"
	"testing"
	"time"

	"gomx/bench/stats"
)

func TestTail(t *testing.T) {
	tail := stats.NewTail()
	for i := range 1000 {
		tail.Add(time.Duration(i+1) * time.Microsecond)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > want/500 {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	all := tail.Percentiles(2)
	if len(all) != 4 || all[3].Name() != "p99.9" {
		t.Fatalf("of 1000 durations p99.9 is the last that is told: %+v", all)
	}
	for i, want := range []float64{250, 450, 495, 499.5} {
		near(all[i].Name(), all[i].Value, want)
	}
	s := tail.Summary(1)
	near("min", s.Min, 1)
	near("p50", s.P50, 500)
	near("mean", s.Mean, 500.5)
	near("max", s.Max, 1000)
	near("stddev", s.Stddev, 288.7)
	n := int64(0)
	for _, b := range tail.Buckets(1) {
		if b.From > b.To || b.Count < 1 {
			t.Errorf("%+v", b)
		}
		n += b.Count
	}
	if n != 1000 || s.N != 1000 {
		t.Errorf("%d and %d durations", n, s.N)
	}
}

func TestTailOfFew(t *testing.T) {
	tail := stats.NewTail()
	if all := tail.Percentiles(1); len(all) != 0 || tail.Summary(1) != (stats.Summary{}) || len(tail.Buckets(1)) != 0 {
		t.Errorf("nothing has %v", all)
	}
	tail.Add(2 * time.Minute) // more than a bucket can say
	if s := tail.Summary(1); s.Max != 120e6 || s.N != 1 {
		t.Errorf("%+v", s)
	}
	if all := tail.Percentiles(1); len(all) != 0 {
		t.Errorf("one duration has %v", all)
	}
}

func TestTailDoesNotAllocate(t *testing.T) {
	tail := stats.NewTail()
	if n := testing.AllocsPerRun(1000, func() { tail.Add(1234) }); n != 0 {
		t.Errorf("%v objects", n)
	}
}
