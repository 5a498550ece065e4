package driver

import (
	"time"

	"gomx/endpoint"
	"gomx/transport/wire"
)

// opens reports whether an operation may begin. It gives the lock back if the endpoint is closed.
func (d *Endpoint) opens() bool { return !d.closed && !d.lossy || d.opensLossy() }

func (d *Endpoint) opensLossy() bool {
	if d.closed {
		d.unlock()
		return false
	}
	d.advance() // retransmission counts from now
	return true
}

// Send starts a send (V.1).
func (d *Endpoint) Send(o *endpoint.Outgoing, opts *endpoint.SendOptions) (endpoint.Handle, error) {
	d.lock()
	if !d.opens() {
		return 0, ErrClosed
	}
	if d.timed {
		d.eng.TurnTo(o.Match)
	}
	h, err := d.eng.Send(o, opts)
	d.after()
	d.unlock()
	return h, err
}

// SendNow sends a small message if that is possible at once and without a request, and reports whether it was.
func (d *Endpoint) SendNow(b []byte, to endpoint.Addr, match uint64) bool {
	d.lock()
	if !d.opens() {
		return false
	}
	sent := d.eng.SendNow(b, to, match)
	d.after()
	d.unlock()
	return sent
}

// Watch makes a request that ends with the session.
func (d *Endpoint) Watch(of endpoint.Addr, match uint64, ctx any) (endpoint.Handle, error) {
	return asked(d, func(e *endpoint.Engine) (endpoint.Handle, error) { return e.Watch(of, match, ctx) })
}

// Recv posts a receive (V.2).
func (d *Endpoint) Recv(i *endpoint.Posting, opts *endpoint.RecvOptions) (endpoint.Handle, error) {
	d.lock()
	if !d.opens() {
		return 0, ErrClosed
	}
	if d.timed {
		d.eng.TurnTo(i.Value)
	}
	h, err := d.eng.Recv(i, opts)
	d.after()
	d.unlock()
	return h, err
}

// RecvDirected posts a receive for messages of one peer.
func (d *Endpoint) RecvDirected(i *endpoint.Posting, opts *endpoint.RecvOptions) (endpoint.Handle, error) {
	d.lock()
	if !d.opens() {
		return 0, ErrClosed
	}
	h, err := d.eng.RecvDirected(i, opts)
	d.after()
	d.unlock()
	return h, err
}

// RecvNow is Recv into one segment, tied to a peer, and polls for a moment. If it returns no request, the whole message of n
// bytes has been received. A request that it returns may be complete already.
func (d *Endpoint) RecvNow(i *endpoint.Posting, from endpoint.Addr) (n int, h endpoint.Handle, err error) {
	d.lock()
	if !d.opens() {
		return 0, 0, ErrClosed
	}
	n, h, err = d.recvNow(i, from)
	d.after()
	d.unlock()
	return n, h, err
}

// recvNow is RecvNow with the lock held. On a shared core it polls for as long as a wait spins, because the sender may need the
// core: a message that arrives in time spares the posting of a receive, which is worth more than the polls.
func (d *Endpoint) recvNow(i *endpoint.Posting, from endpoint.Addr) (n int, h endpoint.Handle, err error) {
	if d.blocked == 0 && !d.lossy && !d.pace.full() {
		if tried, n, h, err := d.recvInline(i, from); tried {
			return n, h, err
		}
	}
	h, err = d.eng.Recv(i, &endpoint.RecvOptions{Tied: true, From: from})
	return 0, h, err
}

// recvInline polls for a message that is received without a request. tried is false if the receive has to be posted instead.
func (d *Endpoint) recvInline(i *endpoint.Posting, from endpoint.Addr) (tried bool, n int, h endpoint.Handle, err error) {
	w := d.parked.get(&want{kind: forInline})
	w.wakeups = d.wakeups
	if tried = d.takeRole(w) && d.eng.RecvInline(i, from); tried {
		if d.eng.InlinePending() {
			d.spin(w)
		}
		n, h, err = d.eng.EndInline()
	}
	d.leave(w)
	d.unlist(w)
	d.parked.put(w)
	d.pollers()
	return tried, n, h, err
}

// RecvClaimed receives a message that was claimed.
func (d *Endpoint) RecvClaimed(v wire.Vec, c endpoint.Claim, ctx any) (endpoint.Handle, error) {
	d.lock()
	if !d.opens() {
		return 0, ErrClosed
	}
	h, err := d.eng.RecvClaimed(v, c, ctx)
	d.after()
	d.unlock()
	return h, err
}

// Discard drops the unexpected messages that fit, and returns how many there were. It makes no pass.
func (d *Endpoint) Discard(value, mask uint64) (int, error) {
	return asked(d, func(e *endpoint.Engine) (int, error) { return e.Discard(value, mask) })
}

// after is called at the end of an operation. It checks whether the operation has ended the wait of another caller, and makes sure that a
// pass will be made.
func (d *Endpoint) after() {
	if d.blocked != 0 || d.sleeper != nil || d.poller == nil && !d.back.watching {
		d.afterwards()
	}
}

func (d *Endpoint) afterwards() {
	if d.blocked != 0 {
		d.meet()
		d.serve()
	}
	if d.sleeper != nil && (d.eng.NextDue() < d.due || d.eng.Backlog() || d.unhandled()) {
		d.bell.Ring()
	}
	if !d.back.watching {
		d.back.watch() // also while the endpoint's own goroutine sleeps: messages to oneself come without a pass, and are to be sampled
	}
}

// call runs an operation of the engine under the lock, and releases the lock also if a handler panics.
func (d *Endpoint) call(op func(e *endpoint.Engine) error) error {
	d.lock()
	return d.locked(op)
}

// locked is the rest of call. The lock is held.
func (d *Endpoint) locked(op func(e *endpoint.Engine) error) error {
	if d.closed {
		d.unlock()
		return ErrClosed
	}
	err := op(d.eng)
	d.after()
	d.unlock()
	return err
}

// asked is call for an operation that returns a value and an error.
func asked[T any](d *Endpoint, op func(e *endpoint.Engine) (T, error)) (v T, err error) {
	err = d.call(func(e *endpoint.Engine) error {
		v, err = op(e)
		return err
	})
	return v, err
}

// Call asks a peer for a session (IV.3.2). If the request it is private, Peek and calls for any request pass over it.
func (d *Endpoint) Call(c *endpoint.Calling, private bool) (endpoint.Handle, error) {
	return asked(d, func(e *endpoint.Engine) (h endpoint.Handle, err error) {
		d.advance()
		h = e.Call(c)
		if private {
			err = e.Enqueue(h, endpoint.Private)
		}
		return h, err
	})
}

// Test collects a request if it is complete, after one pass (VI.2.1).
func (d *Endpoint) Test(h endpoint.Handle, st *endpoint.Status) (bool, error) {
	d.lock()
	if d.closed {
		d.unlock()
		return false, ErrClosed
	}
	ok, err := d.eng.Test(h, st)
	if !ok && err == nil {
		d.eng.Turn(h)
		d.once()
		ok, err = d.eng.Test(h, st)
	}
	d.unlock()
	return ok, err
}

// Look collects a request if it is complete, without a pass.
func (d *Endpoint) Look(h endpoint.Handle, st *endpoint.Status) (ok bool, err error) {
	d.lock()
	if d.closed {
		d.unlock()
		return false, ErrClosed
	}
	ok, err = d.eng.Test(h, st)
	d.unlock()
	return ok, err
}

// Buffered reports whether a send's data has left the buffer (VI.1.1).
func (d *Endpoint) Buffered(h endpoint.Handle) (bool, error) {
	return asked(d, func(e *endpoint.Engine) (bool, error) {
		if ok, err := e.Buffered(h); ok || err != nil {
			return ok, err
		}
		d.once()
		return e.Buffered(h)
	})
}

// Context returns what the request was posted with (VI.4).
func (d *Endpoint) Context(h endpoint.Handle) (any, error) {
	return asked(d, func(e *endpoint.Engine) (any, error) { return e.Context(h) })
}

// Cancel cancels a receive or a connect (IX.1.1).
func (d *Endpoint) Cancel(h endpoint.Handle) (bool, error) {
	return asked(d, func(e *endpoint.Engine) (bool, error) { return e.Cancel(h) })
}

// Forget releases a request when it completes, without a status (IX.1.2).
func (d *Endpoint) Forget(h endpoint.Handle) error {
	return d.call(func(e *endpoint.Engine) error { return e.Forget(h) })
}

// Abandon gives up a request whose wait has ended early.
func (d *Endpoint) Abandon(h endpoint.Handle, st *endpoint.Status) (endpoint.Fate, error) {
	return asked(d, func(e *endpoint.Engine) (endpoint.Fate, error) { return e.Abandon(h, st) })
}

// Detach separates a request from the memory of its caller; the request goes on with a copy.
func (d *Endpoint) Detach(h endpoint.Handle) (mem []byte, free bool, err error) {
	err = d.call(func(e *endpoint.Engine) error {
		mem, free, err = e.Detach(h)
		return err
	})
	return mem, free, err
}

// EagerTo returns the size of the largest message that goes to a peer eagerly, in bytes, or -1 if that is not
// known. Any goroutine may call it.
func (d *Endpoint) EagerTo(a endpoint.Addr) (n int, err error) {
	d.visit()
	defer d.unlock()
	if d.closed {
		return 0, ErrClosed
	}
	return d.eng.EagerTo(a), nil
}

// Disconnect ends the session with a peer (XII.1.1).
func (d *Endpoint) Disconnect(a endpoint.Addr) error {
	return d.call(func(e *endpoint.Engine) error { return e.Disconnect(a) })
}

// GiveUp ends the session with a peer that makes no progress. Any goroutine may call it, whatever the owner has promised.
func (d *Endpoint) GiveUp(a endpoint.Addr) error {
	d.visit()
	return d.locked(func(e *endpoint.Engine) error { return e.GiveUp(a) })
}

// SetTimeout bounds the life of a request, or with handle 0 of all future ones
// (XII.1.2). Infinite removes the bound.
func (d *Endpoint) SetTimeout(h endpoint.Handle, timeout time.Duration) error {
	return d.call(func(e *endpoint.Engine) error {
		if h == 0 {
			e.SetDefaultTimeout(ticks(timeout))
			return nil
		}
		d.advance()
		err := e.SetTimeout(h, ticks(timeout))
		if timeout <= 0 { // at once
			d.advance()
		}
		return err
	})
}

// ticks converts a timeout, rounding up so that none becomes shorter.
func ticks(t time.Duration) endpoint.Tick {
	if t == Infinite {
		return endpoint.Never
	}
	if t <= 0 {
		return 0
	}
	return endpoint.Tick((t-1)/time.Millisecond) + 1
}

// Progress makes one pass (VIII.1.2).
func (d *Endpoint) Progress() error {
	return d.call(func(*endpoint.Engine) error {
		d.once()
		return nil
	})
}

// Pause switches progression off or on (VIII.1.1). Switching it off waits for a
// handler that runs in another goroutine.
func (d *Endpoint) Pause(off bool) error {
	d.lockForeign()
	for off && d.handling && !d.closed && !insideHandler() {
		d.waitCond(d.handled)
	}
	if d.closed {
		d.unlock()
		return ErrClosed
	}
	d.eng.Pause(off)
	d.stir() // to park, or to poll
	d.back.watch()
	if !off {
		d.once()
	}
	d.after()
	d.unlock()
	return nil
}

// Self returns the endpoint's own address.
func (d *Endpoint) Self() endpoint.Addr { return d.eng.Self() }

// Closed reports whether the endpoint is closed.
func (d *Endpoint) Closed() bool {
	d.visit()
	defer d.unlock()
	return d.closed
}

// Query runs f on the engine under the lock, for look-ups that change nothing.
// It works on a closed endpoint too.
func (d *Endpoint) Query(f func(e *endpoint.Engine)) {
	d.visit()
	defer d.unlock()
	f(d.eng)
}
