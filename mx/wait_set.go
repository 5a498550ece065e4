package mx

import (
	"context"
	"fmt"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
)

// MX tests and waits for one request at a time. The calls of this file take many under one lock.

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
	some, index, err := ep.owned(reqs)
	if err == nil && !some {
		err = ErrBadRequest
	}
	if err != nil {
		return index, false, ep.fail("wait first", "", err)
	}
	b := driver.Batch{Aim: driver.First, Len: len(reqs), List: func(h []endpoint.Handle) { list(h, reqs) }}
	index, done, err = ep.d.WaitSet(ctx, &b, timeout)
	if err != nil {
		err = ep.failWait(ctx, "wait first", err)
	}
	return index, done, err
}

// WaitAll blocks until all requests are complete and collects them under one lock: the status of reqs[i] goes to
// states[i], and reqs[i] becomes the zero Request. states may be nil, or is as long as reqs. Zero Requests are
// passed over. It waits until ctx ends, whose error it then returns, or until the timeout has passed: Infinite waits
// for ever, 0 polls once. ctx may be nil. Without done and without an error the time has passed, or Wakeup was called;
// the requests that are not zero are still to be collected then, as after an error. How a request ended is in its status:
// no such outcome is an error of the call. MX does not have it.
//
// Errors: ErrBadRequest for a request of another endpoint, or one that was collected, cancelled or forgotten, or
// stands in reqs twice, which is found when it has been collected; ErrBadInfoLength if states is too short; ErrBadEndpoint. Each request may be waited for by one goroutine at a time. Nothing is allocated.
func (ep *Endpoint) WaitAll(ctx context.Context, reqs []Request, states []Status, timeout time.Duration) (done bool, err error) {
	if err = ep.takesAll(reqs, states); err != nil {
		return false, ep.fail("wait all", "", err)
	}
	b := ep.allOf(reqs, states)
	if _, done, err = ep.d.WaitSet(ctx, &b, timeout); err != nil {
		err = ep.failWait(ctx, "wait all", err)
	}
	return done, err
}

// TestAll collects all requests as WaitAll does if all are complete, and none otherwise. It makes progress.
// Errors: those of WaitAll.
func (ep *Endpoint) TestAll(reqs []Request, states []Status) (done bool, err error) {
	if err = ep.takesAll(reqs, states); err != nil {
		return false, ep.fail("test all", "", err)
	}
	b := ep.allOf(reqs, states)
	if _, done, err = ep.d.TestSet(&b); err != nil {
		err = ep.fail("test all", "", err)
	}
	return done, err
}

// WaitSome blocks until at least one of the requests is complete, and collects those that are, up to len(dst), into
// dst: Index is the place in reqs, where the zero Request is left. ctx and timeout are as for WaitAll, and so are the
// errors; 0 without an error says that the time has passed, that Wakeup was called, or that all requests are zero.
func (ep *Endpoint) WaitSome(ctx context.Context, reqs []Request, dst []Completion, timeout time.Duration) (n int, err error) {
	some, _, err := ep.owned(reqs)
	switch {
	case err != nil:
		return 0, ep.fail("wait some", "", err)
	case !some || len(dst) == 0:
		if ep.d.Closed() {
			return 0, ep.fail("wait some", "", driver.ErrClosed)
		}
		return 0, nil
	}
	if n, err = ep.waitSome(ctx, reqs, dst, timeout); err != nil {
		err = ep.failWait(ctx, "wait some", err)
	}
	return n, err
}

// waitSome is WaitSome for requests of the endpoint, without the error handler.
func (ep *Endpoint) waitSome(ctx context.Context, reqs []Request, dst []Completion, timeout time.Duration) (n int, err error) {
	b := driver.Batch{
		Aim: driver.Some, Len: len(reqs), Most: len(dst), List: func(h []endpoint.Handle) { list(h, reqs) },
		Taken: func(places []int32, states []endpoint.Status) {
			for n = range places {
				i := places[n]
				dst[n].Request, dst[n].Index = reqs[i], int(i)
				dst[n].Status.fill(ep, &states[n])
				reqs[i] = Request{}
			}
			n++
		},
	}
	_, _, err = ep.d.WaitSet(ctx, &b, timeout)
	return n, err
}

// owned checks that requests are of this endpoint, and reports whether there are any.
func (ep *Endpoint) owned(reqs []Request) (some bool, index int, err error) {
	for i := range reqs {
		if reqs[i].h == 0 {
			continue
		}
		if reqs[i].ep != ep {
			return false, i, ErrBadRequest
		}
		some = true
	}
	return some, -1, nil
}

// takesAll checks that requests are of this endpoint, and that there is room for their statuses.
func (ep *Endpoint) takesAll(reqs []Request, states []Status) error {
	if states != nil && len(states) < len(reqs) {
		return fmt.Errorf("%w: %d statuses for %d requests; nil is for none", ErrBadInfoLength, len(states), len(reqs))
	}
	_, _, err := ep.owned(reqs)
	return err
}

// allOf has the requests collected into states.
func (ep *Endpoint) allOf(reqs []Request, states []Status) driver.Batch {
	return driver.Batch{
		Aim: driver.All, Len: len(reqs), List: func(h []endpoint.Handle) { list(h, reqs) },
		Taken: func(places []int32, from []endpoint.Status) { ep.take(reqs, states, places, from) },
	}
}

// take notes how the requests in some places have ended.
func (ep *Endpoint) take(reqs []Request, states []Status, places []int32, from []endpoint.Status) {
	from = from[:len(places)]
	for n, i := range places {
		reqs[i] = Request{}
		if states != nil {
			states[i].fill(ep, &from[n])
		}
	}
}

func list(handles []endpoint.Handle, reqs []Request) {
	for i := range handles {
		handles[i] = reqs[i].h
	}
}
