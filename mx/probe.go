package mx

import (
	"context"
	"errors"
	"iter"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
)

// Iprobe looks for the oldest message that has arrived, that no receive has matched, and whose match information,
// masked, is matchRecv (VII.1.1). It does not receive it: the next Irecv with the same matching gets it, unless another
// goroutine's does, or the session with the sender ends before while the bytes of a large message are still with it: then the message
// is gone. Claim takes a message for sure, and its receive ends with the session. Error: ErrBadMatchMask. Safe from any goroutine.
func (ep *Endpoint) Iprobe(matchRecv, matchMask uint64) (st Status, found bool, err error) {
	return ep.probe(noContext, 0, matchRecv, matchMask)
}

// Probe is Iprobe that blocks until there is such a message or the timeout has passed (VII.1.2). A message that arrives
// is reported to one of the goroutines that block. Safe from any goroutine.
func (ep *Endpoint) Probe(timeout time.Duration, matchRecv, matchMask uint64) (st Status, found bool, err error) {
	return ep.probe(noContext, timeout, matchRecv, matchMask)
}

// ProbeContext is Probe until ctx ends, whose error it then returns.
func (ep *Endpoint) ProbeContext(ctx context.Context, matchRecv, matchMask uint64) (st Status, found bool, err error) {
	return ep.probe(ctx, Infinite, matchRecv, matchMask)
}

func (ep *Endpoint) probe(ctx context.Context, timeout time.Duration, matchRecv, matchMask uint64) (st Status, found bool, err error) {
	var got endpoint.Status
	found, err = ep.d.Probe(ctx, matchRecv, matchMask, timeout, &got)
	if !found {
		return st, false, ep.failWait(ctx, "probe", err)
	}
	return ep.status(&got), true, nil
}

// Completions yields the status of each request that completes and whose match
// information, masked, is matchInfo, as WaitAny does. It ends with ctx, with the
// endpoint, or at a Wakeup, none of which calls the error handler; ErrBadMatchMask does.
// Safe from any goroutine.
func (ep *Endpoint) Completions(ctx context.Context, matchInfo, matchMask uint64) iter.Seq[Status] {
	return func(yield func(Status) bool) {
		for {
			var got endpoint.Status
			done, err := ep.d.WaitAny(ctx, matchInfo, matchMask, Infinite, &got)
			if err != nil && !errors.Is(err, driver.ErrClosed) {
				_ = ep.failWait(ctx, opWaitAny, err) // for the handler: an iteration returns no error
			}
			if !done || !yield(ep.status(&got)) {
				return
			}
		}
	}
}
