package service

import (
	"context"
	"errors"
	"os"
	"time"

	"gomx/mx"
)

// ConnectBound is how long a process may take to answer a connect. Its endpoints answer during computations, but not while it
// is stopped.
const ConnectBound = 30 * time.Second

// Connect connects to an endpoint of another process of the job. It calls once, which makes one attempt, until that succeeds.
// A process that is stopped is alive although the transport's attempt times out, so attempts that time out are repeated for
// ConnectBound. An attempt may also fail because it collides with one of the other side; it is repeated once. An attempt to
// reach a process that has died fails at once. The error is that of the last attempt. Connect ends with ctx.
func Connect(ctx context.Context, once func(ctx context.Context) (mx.EndpointAddr, error)) (mx.EndpointAddr, error) {
	ctx, cancel := context.WithTimeout(ctx, ConnectBound)
	defer cancel()
	for broken := false; ; {
		addr, err := once(ctx)
		switch {
		case err == nil || ctx.Err() != nil:
			return addr, err
		case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, mx.ErrTimeout):
			// it is silent, or Wakeup has ended the call
		case errors.Is(err, mx.ErrConnectionFailed) && !broken:
			broken = true
		default:
			return addr, err
		}
	}
}
