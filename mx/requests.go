package mx

import (
	"context"
	"time"

	"gomx/endpoint"
)

// noContext is for calls that only their timeout ends.
var noContext context.Context

// Ibuffered reports whether the bytes of a send or put have left its buffer, which
// may then be used again (VI.1.1). It changes nothing. For a synchronous send and a
// put it becomes true before the request is complete if they are small. Error:
// ErrBadRequest, also for a receive or get. Safe from any goroutine.
func (ep *Endpoint) Ibuffered(r Request) (bool, error) {
	if r.ep != ep {
		return false, ep.fail("ibuffered", "", ErrBadRequest)
	}
	ok, err := ep.d.Buffered(r.h)
	if err != nil {
		return false, ep.fail("ibuffered", "", err)
	}
	return ok, nil
}

// Test collects a request if it is complete (VI.2.1). With done, the status is
// filled in and the request is gone. Error: ErrBadRequest, ErrBadEndpoint. One
// goroutine at a time may test or wait for a request.
func (ep *Endpoint) Test(r Request) (st Status, done bool, err error) {
	if r.ep != ep {
		return st, false, ep.fail("test", "", ErrBadRequest)
	}
	var got endpoint.Status
	if done, err = ep.d.Test(r.h, &got); done {
		st.fill(ep, &got)
		return
	}
	if err != nil {
		err = ep.fail("test", "", err)
	}
	return st, false, err
}

// Look is Test without progress: it collects a request if that is complete already. It is for handlers, which can't
// make progress anyway, and for callers that start an operation and should not spend time on other messages. MX does
// not have it.
func (ep *Endpoint) Look(r Request) (st Status, done bool, err error) {
	if r.ep != ep {
		return st, false, ep.fail("look", "", ErrBadRequest)
	}
	var got endpoint.Status
	if done, err = ep.d.Look(r.h, &got); done {
		st.fill(ep, &got)
		return
	}
	if err != nil {
		err = ep.fail("look", "", err)
	}
	return st, false, err
}

// Wait collects a request, and blocks until it is complete or the timeout has
// passed (VI.2.2): Infinite waits for ever, 0 polls once. Without done and
// without an error the time has passed, or Wakeup was called. Error:
// ErrBadRequest, ErrBadEndpoint. One goroutine at a time may test or wait for a
// request.
func (ep *Endpoint) Wait(r Request, timeout time.Duration) (st Status, done bool, err error) {
	if r.ep != ep {
		return st, false, ep.fail("wait", "", ErrBadRequest)
	}
	var got endpoint.Status
	if done, err = ep.d.Wait(noContext, r.h, timeout, &got); done {
		st.fill(ep, &got)
		return
	}
	if err != nil {
		err = ep.fail("wait", "", err)
	}
	return st, false, err
}

// Finish collects a request like Wait (VI.2.2), for a caller that needs no more of the status than whether the request
// succeeded: it returns nil then. Otherwise the error is that of Status.Err if the request has failed; ErrTimeout if
// the timeout has passed or Wakeup was called, and the request still exists; ErrBadRequest or ErrBadEndpoint.
// ErrTimeout never calls the error handler. One goroutine at a time may test or wait for a request.
func (ep *Endpoint) Finish(r Request, timeout time.Duration) error {
	if r.ep != ep {
		return ep.fail("finish", "", ErrBadRequest)
	}
	var got endpoint.Status
	done, err := ep.d.Wait(noContext, r.h, timeout, &got)
	if done && got.Code == endpoint.Success {
		return nil
	}
	return ep.unfinished(&got, done, err)
}

// unfinished is the error of a Finish without success.
func (ep *Endpoint) unfinished(got *endpoint.Status, done bool, err error) error {
	switch {
	case done:
		st := ep.status(got)
		return st.Err()
	case err != nil:
		return ep.fail("finish", "", err)
	}
	return ep.newError("finish", "", ErrTimeout)
}

// WaitContext collects a request, and blocks until it is complete or ctx ends.
// It returns an error for anything but a success: ctx's, or one of Status.Err
// together with the status, or ErrTimeout if Wakeup was called. A request that was not
// collected stays pending. Neither ctx's error nor ErrTimeout calls the error handler. Here and in all calls that take a context,
// its Done and Err may be called while the endpoint is locked: a context type of the program's own must neither call the
// endpoint there nor panic.
func (ep *Endpoint) WaitContext(ctx context.Context, r Request) (Status, error) {
	st, done, err := ep.wait(ctx, r, Infinite)
	switch {
	case err != nil:
		return st, ep.failWait(ctx, "wait", err)
	case !done:
		return st, ep.newError("wait", "", ErrTimeout) // Wakeup
	}
	return st, st.Err()
}

// wait is Wait without the error handler.
func (ep *Endpoint) wait(ctx context.Context, r Request, timeout time.Duration) (st Status, done bool, err error) {
	if r.ep != ep {
		return st, false, ErrBadRequest
	}
	var got endpoint.Status
	if done, err = ep.d.Wait(ctx, r.h, timeout, &got); done {
		return ep.status(&got), true, nil
	}
	return st, false, err
}

// Ipeek returns the oldest request that is complete and not collected; it stays
// so until Test (VI.3.1). Safe from any goroutine.
func (ep *Endpoint) Ipeek() (r Request, found bool, err error) { return ep.Peek(0) }

// Peek returns a request that is complete and not collected, and blocks until
// there is one or the timeout has passed (VI.3.2). Of several goroutines that
// block, each gets another request. Safe from any goroutine.
func (ep *Endpoint) Peek(timeout time.Duration) (r Request, found bool, err error) {
	return ep.peek(noContext, timeout)
}

// PeekContext is Peek until ctx ends, whose error it then returns.
func (ep *Endpoint) PeekContext(ctx context.Context) (r Request, found bool, err error) {
	return ep.peek(ctx, Infinite)
}

func (ep *Endpoint) peek(ctx context.Context, timeout time.Duration) (Request, bool, error) {
	h, found, err := ep.d.Peek(ctx, timeout)
	if !found {
		return Request{}, false, ep.failWait(ctx, "peek", err)
	}
	return Request{ep, h}, true, nil
}

// Context returns what a request was posted with (VI.4). Error: ErrBadRequest.
// Safe from any goroutine.
func (ep *Endpoint) Context(r Request) (any, error) {
	if r.ep != ep {
		return nil, ep.fail("context", "", ErrBadRequest)
	}
	v, err := ep.d.Context(r.h)
	return v, ep.fail("context", "", err)
}

// TestAny collects the oldest completed request whose match information, masked,
// is matchInfo (VI.5.1): of a send the one it was sent with, of a receive that of
// the message, of a connect, a put, a get, a watch and a post what they were given. Error: ErrBadMatchMask.
// Safe from any goroutine.
func (ep *Endpoint) TestAny(matchInfo, matchMask uint64) (st Status, done bool, err error) {
	return ep.waitAny(noContext, "test any", 0, matchInfo, matchMask)
}

// WaitAny is TestAny, and blocks until there is such a request or the timeout
// has passed (VI.5.2). Safe from any goroutine.
func (ep *Endpoint) WaitAny(timeout time.Duration, matchInfo, matchMask uint64) (st Status, done bool, err error) {
	return ep.waitAny(noContext, opWaitAny, timeout, matchInfo, matchMask)
}

// WaitAnyContext is WaitAny until ctx ends, whose error it then returns.
func (ep *Endpoint) WaitAnyContext(ctx context.Context, matchInfo, matchMask uint64) (st Status, done bool, err error) {
	return ep.waitAny(ctx, opWaitAny, Infinite, matchInfo, matchMask)
}

const opWaitAny = "wait any"

func (ep *Endpoint) waitAny(ctx context.Context, op string, timeout time.Duration, matchInfo, matchMask uint64) (st Status, done bool, err error) {
	var got endpoint.Status
	if done, err = ep.d.WaitAny(ctx, matchInfo, matchMask, timeout, &got); done {
		st.fill(ep, &got)
		return
	}
	return st, false, ep.failWait(ctx, op, err)
}

// Cancel cancels a receive that has not matched, a connect that is not complete, or a watch (IX.1.1). If cancelled is
// true, the request no longer exists; otherwise it is complete, or will be at once, and must be collected. Errors:
// ErrCancelNotSupported for a send, put or get, ErrBadRequest. Safe from any goroutine.
func (ep *Endpoint) Cancel(r Request) (cancelled bool, err error) {
	if r.ep != ep {
		return false, ep.fail("cancel", "", ErrBadRequest)
	}
	cancelled, err = ep.d.Cancel(r.h)
	return cancelled, ep.fail("cancel", "", err)
}

// Forget lets a request go on without its handle (IX.1.2): it is freed when it completes, and no call reports it. The
// handle is invalid at once. Error: ErrBadRequest. Safe from any goroutine.
func (ep *Endpoint) Forget(r Request) error {
	if r.ep != ep {
		return ep.fail("forget", "", ErrBadRequest)
	}
	return ep.fail("forget", "", ep.d.Forget(r.h))
}

// SetRequestTimeout sets a time limit for a pending request, or with the zero Request for all future ones of the
// endpoint (XII.1.2). When it passes, the request completes with StatusTimeout, and its peer is disconnected. The limit
// of a single request holds until that is complete; the endpoint's holds while an answer of the peer is outstanding. 0
// ends the request at once, Infinite removes the limit. A receive that has not matched is tied to no peer and does not
// time out. A triggered operation that has not begun completes with StatusTimeout too, but its session goes on.
// Error: ErrBadRequest. Safe from any goroutine.
func (ep *Endpoint) SetRequestTimeout(r Request, timeout time.Duration) error {
	if !r.IsZero() && r.ep != ep {
		return ep.fail("set request timeout", "", ErrBadRequest)
	}
	return ep.fail("set request timeout", "", ep.d.SetTimeout(r.h, timeout))
}
