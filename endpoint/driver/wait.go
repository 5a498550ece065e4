package driver

import (
	"context"
	"time"

	"gomx/endpoint"
)

// Infinite as a timeout means for ever. 0 makes one pass.
const Infinite = time.Duration(1<<63 - 1)

// Wait collects a request when it is complete (VI.2.2). If it returns false without an error, the timeout has passed or Wakeup was
// called.
func (d *Endpoint) Wait(ctx context.Context, h endpoint.Handle, timeout time.Duration, st *endpoint.Status) (bool, error) {
	d.lock()
	d.rethrow()
	if d.closed {
		d.unlock()
		return false, ErrClosed
	}
	ok, err := d.eng.Test(h, st)
	if ok {
		d.unlock()
		return true, nil
	}
	return d.collect(ctx, &want{kind: forRequest, handle: h}, err, timeout, st)
}

// WaitAny collects a completed request whose match information fits (VI.5.2).
func (d *Endpoint) WaitAny(ctx context.Context, value, mask uint64, timeout time.Duration, st *endpoint.Status) (bool, error) {
	d.lock()
	d.rethrow()
	if d.closed {
		d.unlock()
		return false, ErrClosed
	}
	ok, err := d.eng.TestAny(value, mask, st)
	if ok {
		d.unlock()
		return true, nil
	}
	return d.collect(ctx, &want{kind: forAny, value: value, mask: mask}, err, timeout, st)
}

// collect waits for a request, and collects it. The caller has the lock, which collect gives back, and has just looked with that error.
func (d *Endpoint) collect(ctx context.Context, q *want, err error, timeout time.Duration, st *endpoint.Status) (ok bool, _ error) {
	if err == nil {
		ok, err = d.await(ctx, q, timeout, st)
	}
	d.unlock()
	return ok, err
}

// await waits for what the caller wants, after it has looked once. The lock is held. st is nil if there is no status.
func (d *Endpoint) await(ctx context.Context, q *want, timeout time.Duration, st *endpoint.Status) (ok bool, err error) {
	polled := false
	if timeout == Infinite && q.kind != forWake {
		wakeups := d.wakeups
		switch ok, polled, err = d.passFor(q, st); {
		case ok, err != nil:
			return ok, err
		case d.closed:
			return false, ErrClosed
		case d.wakeups != wakeups:
			return false, nil
		}
	}
	w := d.parked.get(q)
	w.polled = polled
	if ok, err = d.block(ctx, w, timeout); ok && st != nil {
		st.Assign(&w.status)
	}
	d.parked.put(w)
	return ok, err
}

// passFor makes passes for a caller that is about to wait, until one finds something, and looks again. What comes with them costs
// no more than a call that does not wait. It makes none on a core that others want, nor where several goroutines use the endpoint,
// whose own goroutine then polls. polled: these were all the polls that a wait makes before it reads the clock.
func (d *Endpoint) passFor(q *want, st *endpoint.Status) (ok, polled bool, err error) {
	if d.blocked != 0 || d.crowded() || !d.pace.alone() || !d.ready() {
		return false, false, nil
	}
	for polls := d.pace.first(true); !d.pass(false); polls-- {
		if polls <= 1 || d.heed.Load() != 0 {
			return false, true, nil
		}
	}
	if ok, err = q.take(d, st); err != nil { // another goroutine may have had the lock during the pass
		err = q.gone(err)
	}
	return ok, true, err
}

// Peek returns a completed request and does not collect it (VI.3.2). Callers that are blocked at the same time get different ones.
func (d *Endpoint) Peek(ctx context.Context, timeout time.Duration) (endpoint.Handle, bool, error) {
	found, ok, err := d.waitFor(ctx, &want{kind: forPeek}, timeout)
	return found.handle, ok, err
}

// Probe shows an unexpected message that fits, and leaves it (VII.1.2). A
// message that arrives is shown to one blocked caller.
func (d *Endpoint) Probe(ctx context.Context, value, mask uint64, timeout time.Duration, st *endpoint.Status) (bool, error) {
	found, ok, err := d.waitFor(ctx, &want{kind: forProbe, value: value, mask: mask}, timeout)
	st.Assign(&found.status)
	return ok, err
}

// Claim does the same as Probe, and also claims the message, which RecvClaimed then receives.
func (d *Endpoint) Claim(ctx context.Context, value, mask uint64, timeout time.Duration, st *endpoint.Status) (endpoint.Claim, bool, error) {
	found, ok, err := d.waitFor(ctx, &want{kind: forClaim, value: value, mask: mask}, timeout)
	st.Assign(&found.status)
	return found.claim, ok, err
}

// outcome is what waitFor found.
type outcome struct {
	handle endpoint.Handle
	status endpoint.Status
	claim  endpoint.Claim
}

func (d *Endpoint) waitFor(ctx context.Context, q *want, timeout time.Duration) (found outcome, ok bool, err error) {
	d.lock()
	if d.closed {
		d.unlock()
		return found, false, ErrClosed
	}
	w := d.parked.get(q)
	if w.check(d); w.ok || w.err != nil {
		ok, err = w.ok, w.err
	} else {
		ok, err = d.block(ctx, w, timeout)
	}
	if ok {
		found = outcome{w.handle, w.status, w.claim}
	}
	d.parked.put(w)
	d.unlock()
	return found, ok, err
}

// block waits until w is satisfied, the timeout passes, the context ends, or the endpoint is woken or closed. The caller has
// checked w before, and holds the lock. It must not unlock in a deferred call, because a handler's panic leaves block without
// the lock.
func (d *Endpoint) block(ctx context.Context, w *waiter, timeout time.Duration) (bool, error) {
	w.wakeups = d.wakeups
	if timeout <= 0 {
		d.once()
		w.check(d)
		return w.ok, w.err
	}
	if d.blocked != 0 {
		d.meet()
	}
	if timeout != Infinite {
		if w.until = d.clock() + timeout; w.until < 0 {
			w.until = never
		}
	}
	if ctx != nil && ctx.Done() != nil {
		return d.blockUntil(ctx, w)
	}
	if d.waitOn(w); w.ok {
		return true, nil
	}
	return d.result(w)
}

// blockUntil is block with a context that may end. The end of the context is noticed without the lock.
func (d *Endpoint) blockUntil(ctx context.Context, kept *waiter) (bool, error) {
	w := &waiter{want: kept.want, until: kept.until, wakeups: kept.wakeups, signal: make(chan struct{}, 1)}
	d.once()
	if w.check(d); !w.ok && w.err == nil {
		stop := context.AfterFunc(ctx, func() {
			w.ended.Store(true)
			d.heed.Or(look)
			w.send()
			d.bell.Ring()
		})
		if ctx.Err() == nil && !w.over(d) {
			d.waitOn(w)
		}
		stop()
	}
	kept.handle, kept.status, kept.claim = w.handle, w.status, w.claim
	kept.began, kept.seen = w.began, w.seen
	ok, err := d.result(w)
	if !ok && err == nil {
		err = ctx.Err()
	}
	return ok, err
}

func (d *Endpoint) result(w *waiter) (bool, error) {
	switch {
	case w.ok:
		return true, nil
	case w.err != nil:
		return false, w.gone(w.err)
	case d.closed:
		return false, ErrClosed
	}
	return false, nil
}

// waitOn waits for w: it polls if it can have the polling role, and parks otherwise. The lock is held at the call and at the
// return, and released in between. The caller has just checked that w is not satisfied yet.
func (d *Endpoint) waitOn(w *waiter) {
	over := d.threw()
	if w.kind.early() {
		d.list(w)
		over = w.over(d)
	}
	for passed := false; !over; over = w.ok || w.over(d) {
		switch {
		case !w.passive && !w.parks && d.takeRole(w):
			d.poll(w)
			passed = true
		case !w.passive && !passed && d.mayPass():
			d.progress(false) // what has arrived already is handled without waking a goroutine
			passed = true
		default:
			d.park(w)
		}
	}
	d.unlist(w)
	d.pollers()
	if !w.ok { // if w has taken something, returning it comes first; the next call that waits or makes a pass panics
		d.rethrow()
	}
}

// park waits until the goroutine that polls wakes it.
func (d *Endpoint) park(w *waiter) {
	w.parks = false
	if d.list(w); w.over(d) {
		return // listing w has found it satisfied, and nobody wakes it for that
	}
	if d.poller == nil {
		d.back.call()
	}
	w.saw(d.clock())
	d.outside(func() {
		if w.until == never {
			<-w.signal
			return
		}
		w.rest(w.until - d.clock())
	})
	now := d.clock()
	w.saw(now)
	w.late = w.until != never && now >= w.until
}

// rest waits for a signal, but not for longer than a while.
func (w *waiter) rest(while time.Duration) {
	if w.timer == nil {
		w.timer = time.NewTimer(while)
	} else {
		w.timer.Reset(while)
	}
	select {
	case <-w.signal:
	case <-w.timer.C:
	}
	w.timer.Stop()
}

// Wakeup ends the calls that block at this moment (III.3.3).
func (d *Endpoint) Wakeup() {
	d.visit()
	d.wakeAll()
	d.unlock()
}
