package stats

import (
	"math"
	"strconv"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The tail is counted in nanoseconds with 3 digits that count, up to a minute.
const (
	tailMost   = int64(time.Minute)
	tailDigits = 3
)

// tailPercentiles are those that a Tail tells.
var tailPercentiles = []float64{50, 90, 99, 99.9, 99.99, 99.999}

// Tail counts durations in the buckets of an HDR histogram: each has the durations that agree in their first 3 digits,
// so that rare long ones are as exact as the usual. Add allocates nothing. One goroutine at a time.
type Tail struct {
	h   *hdrhistogram.Histogram
	max time.Duration
}

// NewTail returns a Tail without durations.
func NewTail() *Tail { return &Tail{h: hdrhistogram.New(1, tailMost, tailDigits)} }

// Add counts a duration. One above a minute counts as a minute, but for the maximum.
func (t *Tail) Add(d time.Duration) {
	t.max = max(t.max, d)
	_ = t.h.RecordValue(min(int64(d), tailMost)) // it refuses only what is above
}

// Percentile is a duration that so many percent of all do not exceed.
type Percentile struct {
	Percent float64 `json:"percent"`
	Value   float64 `json:"us"` // microseconds
}

// Name returns the usual name, such as "p99.9".
func (p Percentile) Name() string { return "p" + strconv.FormatFloat(p.Percent, 'f', -1, 64) }

// Bucket is how many durations lie in a range.
type Bucket struct {
	From  float64 `json:"from_us"` // microseconds
	To    float64 `json:"to_us"`   // microseconds
	Count int64   `json:"count"`
}

// Percentiles returns the median, p90, p99 and so on to p99.999, in microseconds, each divided by parts. A percentile is
// left out if less than one duration lies beyond it: it would be the maximum.
func (t *Tail) Percentiles(parts int) []Percentile {
	var all []Percentile
	n := float64(t.h.TotalCount())
	for _, p := range tailPercentiles {
		if math.Round(n*(100-p)*1e3)/1e5 >= 1 {
			all = append(all, Percentile{p, us(t.h.ValueAtPercentile(p), parts)})
		}
	}
	return all
}

// PercentileNames returns the names of all percentiles that there can be.
func PercentileNames() []string {
	var names []string
	for _, p := range tailPercentiles {
		names = append(names, Percentile{Percent: p}.Name())
	}
	return names
}

// Buckets returns the buckets that are not empty, in microseconds divided by parts.
func (t *Tail) Buckets(parts int) []Bucket {
	var all []Bucket
	for _, b := range t.h.Distribution() {
		if b.Count > 0 {
			all = append(all, Bucket{us(b.From, parts), us(b.To, parts), b.Count})
		}
	}
	return all
}

// Summary describes the durations, in microseconds divided by parts.
func (t *Tail) Summary(parts int) Summary {
	n := t.h.TotalCount()
	if n == 0 {
		return Summary{}
	}
	scale := 1e3 * float64(parts)
	return Summary{
		N: int(n), Min: us(t.h.Min(), parts), P50: us(t.h.ValueAtPercentile(50), parts), Mean: t.h.Mean() / scale,
		P99: us(t.h.ValueAtPercentile(99), parts), Max: us(int64(t.max), parts), Stddev: t.h.StdDev() / scale,
	}
}

func us(ns int64, parts int) float64 { return float64(ns) / 1e3 / float64(parts) }
