package mx

import (
	"context"
	"time"

	"gomx/endpoint"
)

// WaitFirst blocks until one of the requests is complete, and returns the place of the
// first such one in reqs. It collects nothing: Test does, at once. Zero Requests are
// passed over. It waits until ctx ends, whose error it then returns, or until the timeout
// has passed: Infinite waits for ever, 0 polls once. ctx may be nil. Without done and
// without an error the time has passed, or Wakeup was called, and the place is -1. MX does
// not have it.
//
// Errors: ErrBadRequest if no request is among reqs, or one of another endpoint or one that
// is collected, cancelled or forgotten, whose place is returned; ErrBadEndpoint. Each
// request may be waited for by one goroutine at a time. reqs must not change
// meanwhile.
func (ep *Endpoint) WaitFirst(ctx context.Context, reqs []Request, timeout time.Duration) (index int, done bool, err error) {
	some := false
	for i := range reqs {
		if reqs[i].h == 0 {
			continue
		}
		if reqs[i].ep != ep {
			return i, false, ep.fail("wait first", "", ErrBadRequest)
		}
		some = true
	}
	if !some {
		return -1, false, ep.fail("wait first", "", ErrBadRequest)
	}
	index, done, err = ep.d.WaitFirst(ctx, len(reqs), func(i int) endpoint.Handle { return reqs[i].h }, timeout)
	if err != nil {
		err = ep.fail("wait first", "", err)
	}
	return index, done, err
}
