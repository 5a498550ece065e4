package pingpong

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"
)

// Limits of a Plan.
const (
	MaxLength = 1 << 30                 // bytes of a message
	MaxWindow = 1 << 16                 // messages of a window
	MaxParked = 1 << 20                 // receives or messages that lie in a queue
	MaxCount  = min(1<<40, math.MaxInt) // round trips or windows of a length
)

// PerLength is about how long a length is measured if the number of round trips
// is left open.
const PerLength = 250 * time.Millisecond

// perLength is PerLength, or with a histogram longer: its last percentile is of 100000 exchanges or more.
func (p *Plan) perLength() time.Duration {
	if p.Histogram {
		return 4 * PerLength
	}
	return PerLength
}

// ErrCorrupt says that a message did not arrive as it was sent.
var ErrCorrupt = errors.New("corrupt message")

// Plan is what to measure.
type Plan struct {
	Lengths    []int // bytes of a message, in the order they are measured in
	Iterations int   // round trips, or windows, of each length; 0: as many as PerLength takes
	Warmup     int   // round trips, or windows, before those; -1: as many as it needs
	Window     int   // stream so many messages before each answer; 0: ping-pong
	Posted     int   // receives that match nothing, posted on both sides first
	Unexpected int   // messages that nobody receives, sent to the follower first
	Sync       bool  // synchronous sends
	Alloc      bool  // buffers from mx.Alloc
	Verify     bool  // fill and check every message, which shows in the times

	OneSided  OneSided // an exchange is one of these operations
	Histogram bool     // time each exchange for itself, which shows in the times
	Stream    bool     // stream messages, Window of them under way at a time
	Both      bool     // with Stream: both ways at once
}

// Check returns an error that says what is wrong with the plan, if anything is.
func (p *Plan) Check() error {
	if len(p.Lengths) == 0 {
		return errors.New("no message length to measure")
	}
	for _, n := range p.Lengths {
		if n < 0 || n > MaxLength {
			return fmt.Errorf("message length %d: lengths are 0 to %d bytes", n, MaxLength)
		}
	}
	for _, c := range []struct {
		what               string
		value, least, most int
	}{
		{"iterations", p.Iterations, 0, MaxCount},
		{"warm-up iterations", p.Warmup, -1, MaxCount},
		{"messages of a window", p.Window, 0, MaxWindow},
		{"posted receives", p.Posted, 0, MaxParked},
		{"unexpected messages", p.Unexpected, 0, MaxParked},
	} {
		if c.value < c.least || c.value > c.most {
			return fmt.Errorf("%d %s: from %d to %d are possible", c.value, c.what, max(c.least, 0), c.most)
		}
	}
	if p.Histogram && (p.Window > 0 || p.Stream) {
		return errors.New("a histogram is of the times of single messages, which a window or a stream has none of")
	}
	return cmp.Or(p.checkStream(), p.checkOneSided())
}

func (p *Plan) longest() int {
	most := 0
	for _, n := range p.Lengths {
		most = max(most, n)
	}
	return most
}
