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
	return d.collect(ctx, want{kind: forRequest, handle: h}, timeout, st)
}

// WaitAny collects a completed request whose match information fits (VI.5.2).
func (d *Endpoint) WaitAny(ctx context.Context, value, mask uint64, timeout time.Duration, st *endpoint.Status) (bool, error) {
	return d.collect(ctx, want{kind: forAny, value: value, mask: mask}, timeout, st)
}

// collect waits for a request, and collects it.
func (d *Endpoint) collect(ctx context.Context, q want, timeout time.Duration, st *endpoint.Status) (bool, error) {
	d.lock()
	if ok, err := q.take(d, st); ok || err != nil || d.closed {
		d.called()
		err = d.orClosed(err)
		d.unlock()
		return ok, err
	}
	ok, err := d.await(ctx, q, timeout, st)
	d.unlock()
	return ok, err
}

// await waits for a request that is not complete, and collects it. The lock is held.
func (d *Endpoint) await(ctx context.Context, q want, timeout time.Duration, st *endpoint.Status) (bool, error) {
	if timeout > 0 && ctx == nil && d.blocked == 0 && d.pace.alone() && d.mayPoll() {
		wakeups := d.wakeups
		if ok, err := d.brief(&q, st); ok || err != nil || d.wakeups != wakeups {
			return ok, err
		}
	}
	w := d.parked.get()
	w.want = q
	ok, err := d.block(ctx, w, timeout)
	*st = w.status
	d.parked.put(w)
	return ok, err
}

// briefly is how many polls a lone caller makes before it waits in earnest. A
// few of them catch what is already on its way, at no cost but the polls.
const briefly = 256

// brief polls for a moment, for a request that nobody else waits for.
func (d *Endpoint) brief(q *want, st *endpoint.Status) (bool, error) {
	d.polling = true
	d.disarm()
	for range briefly {
		if d.progress() {
			if ok, err := q.take(d, st); ok || err != nil {
				d.called()
				d.leave()
				return ok, err
			}
		}
		if d.wanted.Load() != 0 {
			break
		}
	}
	d.leave()
	return false, nil
}

// Peek returns a completed request, which stays (VI.3.2). Each blocked caller
// is shown another one.
func (d *Endpoint) Peek(ctx context.Context, timeout time.Duration) (endpoint.Handle, bool, error) {
	w, ok, err := d.waitFor(ctx, forPeek, 0, 0, timeout)
	return w.handle, ok, err
}

// Probe shows an unexpected message that fits, and leaves it (VII.1.2). A
// message that arrives is shown to one blocked caller.
func (d *Endpoint) Probe(ctx context.Context, value, mask uint64, timeout time.Duration, st *endpoint.Status) (bool, error) {
	w, ok, err := d.waitFor(ctx, forProbe, value, mask, timeout)
	*st = w.status
	return ok, err
}

// Claim is Probe, and takes the message, which RecvClaimed receives.
func (d *Endpoint) Claim(ctx context.Context, value, mask uint64, timeout time.Duration, st *endpoint.Status) (endpoint.Claim, bool, error) {
	w, ok, err := d.waitFor(ctx, forClaim, value, mask, timeout)
	*st = w.status
	return w.claim, ok, err
}

// outcome is what waitFor found.
type outcome struct {
	handle endpoint.Handle
	status endpoint.Status
	claim  endpoint.Claim
}

func (d *Endpoint) waitFor(ctx context.Context, kind waitKind, value, mask uint64, timeout time.Duration) (outcome, bool, error) {
	d.lock()
	defer d.unlock()
	w := d.parked.get()
	w.want = want{kind: kind, value: value, mask: mask}
	ok, err := d.block(ctx, w, timeout)
	found := outcome{w.handle, w.status, w.claim}
	d.parked.put(w)
	return found, ok, err
}

// block waits until w is satisfied, time is up, the context ends, or the
// endpoint is woken or closed. The lock is held.
func (d *Endpoint) block(ctx context.Context, w *waiter, timeout time.Duration) (bool, error) {
	if d.closed {
		return false, ErrClosed
	}
	d.called()
	w.wakeups = d.wakeups
	if w.check(d); !w.ok && w.err == nil {
		d.once()
		w.check(d)
	}
	if w.ok || w.err != nil || timeout <= 0 {
		return w.ok, w.err
	}
	if timeout != Infinite {
		w.deadline = time.Now().Add(timeout)
	}
	if ctx != nil {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		w.ctx = ctx
		stop := context.AfterFunc(ctx, d.nudge)
		defer stop()
	}
	d.enter(w)
	d.waitOn(w)
	d.exit(w)
	d.called()
	if !d.polling && d.blocked != 0 {
		d.handOver() // the role may have been offered to us alone
	}
	return d.result(ctx, w)
}

func (d *Endpoint) result(ctx context.Context, w *waiter) (bool, error) {
	if (w.kind == forRequest || w.kind == forSet || w.kind == forWake) && !w.ok && w.err == nil {
		w.check(d)
	}
	switch {
	case w.ok || w.err != nil:
		return w.ok, w.err
	case d.closed:
		return false, ErrClosed
	case ctx != nil:
		return false, ctx.Err()
	}
	return false, nil
}

// waitOn polls or parks until the wait is over.
func (d *Endpoint) waitOn(w *waiter) {
	for !w.over(d) && !w.expired() {
		if !w.passive && d.mayPoll() {
			w.poller = true
			d.poll(w)
			w.poller = false
			continue
		}
		d.park(w)
	}
}

func (w *waiter) expired() bool {
	if w.ctx != nil && w.ctx.Err() != nil {
		return true
	}
	return !w.deadline.IsZero() && !time.Now().Before(w.deadline)
}

// park waits for the poller to wake us.
func (d *Endpoint) park(w *waiter) {
	d.outside(func() {
		if w.deadline.IsZero() {
			<-w.signal
			return
		}
		t := time.NewTimer(time.Until(w.deadline))
		select {
		case <-w.signal:
		case <-t.C:
		}
		t.Stop()
	})
}

// nudge makes every blocked caller look again.
func (d *Endpoint) nudge() {
	d.guest()
	defer d.unlock()
	for _, w := range d.parked.all {
		w.wake(d)
	}
	if d.asleep {
		d.bell.Ring()
	}
}

// Wakeup ends the blocking calls of the moment (III.3.3).
func (d *Endpoint) Wakeup() {
	d.guest()
	d.wakeAll()
	d.unlock()
}

func (d *Endpoint) orClosed(err error) error {
	if d.closed {
		return ErrClosed
	}
	return err
}
