package pingpong

import (
	"time"

	"gomx/bench/stats"
)

const (
	leastBatch  = 20 * time.Microsecond // reading the clock takes a few hundredths of one
	mostBatches = 1000
	fewBatches  = 10 // wanted however short they are

	leastWarmup = 10
	warmupTime  = 5 * time.Millisecond
	mostWarmup  = 1 << 14

	portions         = 10
	fewestIterations = 20
)

// run is how many exchanges were timed, and the microseconds of one in each batch.
type run struct {
	iterations int
	samples    []float64
	tail       *stats.Tail // with a histogram: the duration of each, in place of samples
}

// add makes count exchanges, of which one takes about each, and notes how long they took.
func (r *run) add(c course, p *Plan, length, count int, each time.Duration) error {
	if p.Histogram {
		if r.tail == nil {
			r.tail = stats.NewTail()
		}
		return r.timeEach(c, length, count)
	}
	samples, err := timed(c, length, count, batchSize(count, each))
	r.samples = append(r.samples, samples...)
	return err
}

// timeEach takes the time of each exchange. That of counting it is in none of them.
func (r *run) timeEach(c course, length, count int) error {
	for range count {
		start := time.Now()
		if err := c.exchange(length, 1); err != nil {
			return err
		}
		r.tail.Add(time.Since(start))
	}
	return nil
}

// batchSize says how many of count exchanges make a batch, if one takes about
// each; 0 is unknown.
func batchSize(count int, each time.Duration) int {
	if each <= 0 {
		each = leastBatch / 100
	}
	size := int((leastBatch + each - 1) / each)
	size = min(size, count/fewBatches)
	return max(size, 1, (count+mostBatches-1)/mostBatches)
}

// timed makes count exchanges, and returns the microseconds of one in each batch.
// The last batch holds what is left over.
func timed(c course, length, count, size int) (samples []float64, err error) {
	samples = make([]float64, 0, count/size+1)
	start := time.Now()
	for left := count; left > 0; {
		n := size
		if left < 2*size {
			n = left
		}
		if err := c.exchange(length, n); err != nil {
			return nil, err
		}
		now := time.Now()
		samples = append(samples, float64(now.Sub(start))/float64(n)/1e3)
		start = now
		left -= n
	}
	return samples, nil
}
