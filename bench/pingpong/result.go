package pingpong

import (
	"math"

	"gomx/bench/stats"
)

// Result is what was measured with messages of one length. Figures that don't
// apply are 0, and absent from the JSON form.
type Result struct {
	Transport    string         `json:"transport"`
	Instead      string         `json:"instead,omitempty"`               // why it is not a preferred one
	Length       int            `json:"length"`                          // bytes
	Iterations   int            `json:"iterations"`                      // round trips, or windows
	Window       int            `json:"window,omitempty"`                // messages of a window
	Latency      *stats.Summary `json:"latency_us,omitempty"`            // half round trip, or a one-sided operation, microseconds, over batches
	Bandwidth    float64        `json:"bandwidth_MBps,omitempty"`        // 10^6 bytes a second, from the median
	Rate         float64        `json:"rate_Mmsgps,omitempty"`           // millions of messages a second, from the median; with a window
	Posted       int            `json:"posted,omitempty"`                // receives that lay in the way
	Unexpected   int            `json:"unexpected,omitempty"`            // messages that lay in the way
	UnexpectedUs float64        `json:"unexpected_us_per_msg,omitempty"` // mean time to receive each of those, newest first

	OneSided    OneSided           `json:"one_sided,omitempty"`   // what was timed, from its begin to its completion, in place of messages
	Percentiles []stats.Percentile `json:"percentiles,omitempty"` // with a histogram: of single messages or operations
	Histogram   []stats.Bucket     `json:"histogram,omitempty"`   // how many took how long
	Send        *Way               `json:"send,omitempty"`        // of a stream: from the leader to the follower
	Receive     *Way               `json:"receive,omitempty"`     // of a stream both ways: back
}

// result makes the figures from the duration of an exchange, in microseconds, in
// each batch.
func (p *Plan) result(length int, r run) Result {
	out := Result{
		Length: length, Iterations: r.iterations,
		Window: p.Window, Posted: p.Posted, Unexpected: p.Unexpected, OneSided: p.OneSided,
	}
	if p.Window > 0 {
		rate := float64(p.Window) / stats.Median(r.samples)
		out.Rate, out.Bandwidth = neat(rate), neat(rate*float64(length))
		return out
	}
	parts := 2 // a round trip is two messages
	if p.OneSided != NoOneSided {
		parts = 1
	}
	for i := range r.samples {
		r.samples[i] /= float64(parts)
	}
	s := stats.Summarize(r.samples)
	if r.tail != nil {
		s, out.Percentiles, out.Histogram = r.tail.Summary(parts), r.tail.Percentiles(parts), r.tail.Buckets(parts)
	}
	out.Bandwidth = neat(float64(length) / s.P50)
	for _, v := range []*float64{&s.Min, &s.P50, &s.Mean, &s.P99, &s.Max, &s.Stddev} {
		*v = neat(*v)
	}
	out.Latency = &s
	return out
}

// neat leaves off digits that mean nothing.
func neat(v float64) float64 { return math.Round(v*1e6) / 1e6 }
