package service

import (
	"context"
	"errors"
	"os"
	"time"

	"gomx/mx"
)

// ConnectBound is how long a process may take to answer a connect. Its endpoints answer while it
// computes, but not while it is stopped.
const ConnectBound = 30 * time.Second

// Connect calls once, which tries to connect with an endpoint of another process of the job, until
// that succeeds. Who is stopped keeps a transport waiting for longer than it likes, and is alive all the same: it
// is asked again, for half a minute. An attempt that meets the other side's own may fail; one more
// is made. Of who has died the next attempt finds nothing, at once. The error is the last one. It ends with ctx.
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
