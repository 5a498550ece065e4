package mpi

import (
	"context"
	"errors"
	"time"

	"gomx/mx"
)

// slice is how often those who wait are woken up once somebody has died.
const slice = 100 * time.Millisecond

// await waits until a request of mx is complete, and collects it. op is the call, for those who ask
// what the rank waits for. With all, the death of any rank of the communicator ends it. Without
// done, the error says why, and the request is there still, unless that is a death.
func (c *Comm) await(op string, r mx.Request, all bool) (st mx.Status, done bool, err error) {
	if c.ctx == nil {
		if st, done, err = c.seat.ep.Wait(r, mx.Infinite); done || err != nil {
			return st, done, err
		}
	}
	return c.awaitLong(c.ctx, op, r, all)
}

// awaitLong is await that a context ends, and the rest of one that was woken up:
// somebody has died, or asks what the rank waits for.
func (c *Comm) awaitLong(ctx context.Context, op string, r mx.Request, all bool) (st mx.Status, done bool, err error) {
	one := []mx.Request{r}
	var w *longWait
	defer func() { c.seat.waits.leave(w) }()
	for woken := ctx == nil; ; woken = true {
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

// giveUp takes back a request if a rank of the communicator has died, and returns that
// death. nil: the wait goes on. A send can't be taken back, and is only not waited for.
func (c *Comm) giveUp(r mx.Request) error {
	dead := c.mourns()
	if dead == nil {
		return nil
	}
	taken, err := c.seat.ep.Cancel(r)
	if err == nil && !taken || errors.Is(err, mx.ErrBadRequest) {
		return nil // there is a message; or another goroutine has taken it back, as the wait says
	}
	return dead
}

// bereaved returns the error of a receive from anybody that a death has ended.
func (q *Request) bereaved(op string) error {
	if q.kind != recvRequest || q.peer != AnySource {
		return nil
	}
	if dead := q.c.giveUp(q.mx()); dead != nil {
		return q.broken(op, dead)
	}
	return nil
}

// letGo gives up a request that is not to be waited for any more. With done it was complete in time. Otherwise a
// receive without a message is taken back; all else goes on, and uses its memory until it is over.
func (c *Comm) letGo(r mx.Request) (st mx.Status, done, inUse bool) {
	fate, st, err := c.seat.ep.Abandon(r)
	return st, fate == mx.FateEnded && err == nil, fate == mx.FateInUse
}
