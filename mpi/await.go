package mpi

import (
	"context"
	"errors"
	"time"

	"gomx/mx"
)

// slice is how often blocking calls are woken up once a rank has failed.
const slice = 100 * time.Millisecond

// await waits until a request of mx is complete, and collects it. op is the name of the call for hang reports. With all, the
// failure of any rank of the communicator ends the wait. If done is false, err is the reason, and the request still exists
// unless err is the failure of a rank.
func (c *Comm) await(op string, r mx.Request, all bool) (st mx.Status, done bool, err error) {
	if c.ctx == nil {
		if st, done, err = c.seat.ep.Wait(r, mx.Infinite); done || err != nil {
			return st, done, err
		}
	}
	return c.awaitLong(c.ctx, op, r, all, c.ctx == nil)
}

// awaitLong is await with a context, and the rest of an await that was woken up because a rank has failed, or because a hang
// report was asked for.
func (c *Comm) awaitLong(ctx context.Context, op string, r mx.Request, all, woken bool) (st mx.Status, done bool, err error) {
	one := []mx.Request{r}
	var w *longWait
	defer func() { c.seat.waits.leave(w) }()
	for ; ; woken = true {
		if woken && w == nil {
			w = c.seat.waits.enter(ctx, c, op, one, false)
		}
		if all {
			if err := c.giveUp(r); err != nil {
				return st, false, err
			}
		}
		_, done, err := c.seat.ep.WaitFirst(ctx, one, mx.Infinite)
		switch {
		case done:
			return c.seat.ep.Test(r)
		case err != nil:
			if st, done, late := c.seat.ep.Test(r); done || late != nil {
				return st, done, late // it has come all the same
			}
			return st, false, expired(ctx, err)
		}
	}
}

// giveUp cancels a request if a rank of the communicator has failed, and returns that failure. If it returns nil, the wait goes
// on. A send can't be cancelled: it is only not waited for.
func (c *Comm) giveUp(r mx.Request) error {
	dead := c.firstFailure()
	if dead == nil {
		return nil
	}
	taken, err := c.seat.ep.Cancel(r)
	if err == nil && !taken || errors.Is(err, mx.ErrBadRequest) {
		return nil // there is a message; or another goroutine has taken it back, as the wait says
	}
	return dead
}

// anySourceFailed returns the error of a receive from any source that the failure of a rank has ended.
func (q *Request) anySourceFailed(op string) error {
	if !q.receives() || q.peer != AnySource {
		return nil
	}
	if dead := q.c.giveUp(q.mx()); dead != nil {
		return q.broken(op, dead)
	}
	return nil
}

// letGo abandons a request. If done is true, it was complete already. Otherwise a receive that no message has matched is
// cancelled, and any other operation goes on and uses its buffer until it ends.
func (c *Comm) letGo(r mx.Request) (st mx.Status, done, inUse bool) {
	fate, st, err := c.seat.ep.Abandon(r)
	return st, fate == mx.FateEnded && err == nil, fate == mx.FateInUse
}
