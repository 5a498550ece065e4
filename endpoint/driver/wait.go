package driver

import (
	"context"
	"time"

	"gomx/endpoint"
)

// Infinite as a timeout means for ever. 0 makes one pass.
const Infinite = time.Duration(1<<63 - 1)

// Wait collects a request when it is complete (VI.2.2). False without an error:
// the timeout passed, or Wakeup was called.
func (d *Endpoint) Wait(ctx context.Context, h endpoint.Handle, timeout time.Duration, st *endpoint.Status) (bool, error) {
	return d.collect(ctx, &want{kind: forRequest, handle: h}, timeout, st)
}

// WaitAny collects a completed request whose match information fits (VI.5.2).
func (d *Endpoint) WaitAny(ctx context.Context, value, mask uint64, timeout time.Duration, st *endpoint.Status) (bool, error) {
	return d.collect(ctx, &want{kind: forAny, value: value, mask: mask}, timeout, st)
}

// collect waits for a request, and collects it.
func (d *Endpoint) collect(ctx context.Context, q *want, timeout time.Duration, st *endpoint.Status) (bool, error) {
	d.lock()
	d.rethrow() // what was put off
	ok, err := q.take(d, st)
	if d.closed && !ok {
		err = ErrClosed
	}
	if !ok && err == nil {
		w := d.parked.get(q)
		if ok, err = d.block(ctx, w, timeout); ok {
			st.Assign(&w.status)
		}
		d.parked.put(w)
	}
	d.unlock()
	return ok, err
}

// Peek returns a completed request, which stays (VI.3.2). Each blocked caller
// is shown another one.
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

// Claim is Probe, and takes the message, which RecvClaimed receives.
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

// block waits until w, which was looked at, is satisfied, time is up, the context ends, or the
// endpoint is woken or closed. The lock is held. Whoever calls it must not defer the unlocking, for a panic of the
// handler goes on from here without the lock.
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

// blockUntil is block with a context that may end. Its end is heard without the lock.
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
		return false, w.gone()
	case d.closed:
		return false, ErrClosed
	}
	return false, nil
}

// waitOn waits: it polls where that is its to do, and else parks. The lock is held, but for moments. Somebody has just
// looked whether there is what w waits for.
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
			d.progress(false) // what has come already needs nobody to be woken
			passed = true
		default:
			d.park(w)
		}
	}
	d.unlist(w)
	d.pollers()
	if !w.ok { // else what w has taken would be lost: the next call panics that waits or makes a pass
		d.rethrow()
	}
}

// park waits to be woken by whoever polls.
func (d *Endpoint) park(w *waiter) {
	w.parks = false
	if d.list(w); w.over(d) {
		return // found out by the look that listing takes, of which nobody tells
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
		t := time.NewTimer(w.until - d.clock())
		select {
		case <-w.signal:
		case <-t.C:
		}
		t.Stop()
	})
	now := d.clock()
	w.saw(now)
	w.late = w.until != never && now >= w.until
}

// Wakeup ends the blocking calls of the moment (III.3.3).
func (d *Endpoint) Wakeup() {
	d.lockForeign()
	d.wakeAll()
	d.unlock()
}
