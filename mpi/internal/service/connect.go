package service

import (
	"context"
	"errors"
	"os"
	"time"

	"gomx/mx"
)

// These constants say how long a process may take to answer a connect. Its endpoints answer during computations, but not while it
// is stopped.
const (
	connectBound = 30 * time.Second
	attemptBound = 10 * time.Second // the longest single attempt
	overdue      = time.Second      // if an attempt ends that much later than its time, this process has itself stood still
)

// Patience is what is left of the time in which processes have to answer a connect. Time in which this process itself
// stands still counts as little as possible: an answer that has come meanwhile is looked at before the time is over.
type Patience struct{ left time.Duration }

// NewPatience returns all of that time.
func NewPatience() Patience { return Patience{connectBound} }

// Attempt calls f with a context that ends when an attempt has taken long enough, and reports whether there is time for another one.
func (p *Patience) Attempt(ctx context.Context, f func(ctx context.Context)) (goesOn bool) {
	bound := min(p.left, attemptBound)
	attempt, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	start := time.Now()
	f(attempt)
	took := time.Since(start)
	if took > bound+overdue {
		took = bound / 2
	}
	p.left -= took
	return p.left > 0
}

// Silent reports whether an error says that a process has not answered a connect in time, or that Wakeup has ended the call.
func Silent(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, mx.ErrTimeout)
}

// Connect connects to an endpoint of another process of the job. It calls once, which makes one attempt, until that succeeds.
// A process that is stopped is alive although the transport's attempt times out, so attempts that time out are repeated for
// half a minute. An attempt may also fail because it collides with one of the other side; it is repeated once. An attempt to
// reach a process that has died fails at once. The error is that of the last attempt. Connect ends with ctx.
func Connect(ctx context.Context, once func(ctx context.Context) (mx.EndpointAddr, error)) (mx.EndpointAddr, error) {
	patience := NewPatience()
	for broken := false; ; {
		var addr mx.EndpointAddr
		var err error
		goesOn := patience.Attempt(ctx, func(ctx context.Context) { addr, err = once(ctx) })
		switch {
		case err == nil || ctx.Err() != nil:
			return addr, err
		case goesOn && Silent(err):
		case errors.Is(err, mx.ErrConnectionFailed) && !broken:
			broken = true
		default:
			return addr, err
		}
	}
}
