package mpi

import (
	"time"

	"gomx/mx"
)

// slice is how long a wait for anybody's message lasts before it looks whether somebody has
// died. Wakeup cuts it short, but for a wait that has not quite begun.
const slice = 100 * time.Millisecond

// await waits until a request of mx is complete, and collects it. Without done, the error says
// why it was not, and the request is there still, unless that is a death.
func (c *Comm) await(r mx.Request, peer int) (st mx.Status, done bool, err error) {
	if c.ctx != nil {
		return c.awaitContext(r, peer)
	}
	timeout := mx.Infinite
	if peer == AnySource {
		timeout = slice
	}
	for {
		if st, done, err = c.seat.ep.Wait(r, timeout); done || err != nil {
			return st, done, err
		}
		if peer == AnySource {
			if err = c.giveUp(r); err != nil {
				return st, false, err
			}
		}
	}
}

// awaitContext is await that the communicator's context ends.
func (c *Comm) awaitContext(r mx.Request, peer int) (st mx.Status, done bool, err error) {
	timeout := mx.Infinite
	if peer == AnySource {
		timeout = slice
	}
	one := [1]mx.Request{r}
	for {
		_, done, err := c.seat.ep.WaitFirst(c.ctx, one[:], timeout)
		switch {
		case done:
			return c.seat.ep.Test(r)
		case err != nil:
			if st, done, late := c.seat.ep.Test(r); done || late != nil {
				return st, done, late // it has come all the same
			}
			return st, false, err
		case peer == AnySource:
			if err = c.giveUp(r); err != nil {
				return st, false, err
			}
		}
	}
}

// giveUp takes back a receive from anybody if a rank of the communicator has died, and returns that
// death. nil: the wait goes on.
func (c *Comm) giveUp(r mx.Request) error {
	dead := c.mourns()
	if dead == nil {
		return nil
	}
	if taken, err := c.seat.ep.Cancel(r); err != nil || !taken {
		return nil // there is a message
	}
	return dead
}

// bereaved returns the error of a receive from anybody that a death has ended.
func (q *Request) bereaved(op string) error {
	if q.kind != recvRequest || q.peer != AnySource {
		return nil
	}
	if dead := q.c.giveUp(q.r); dead != nil {
		return q.c.broken(op, AnySource, int(q.tag), dead)
	}
	return nil
}

// retract gives up a request that is not to be waited for any more. With done it was
// complete in time.
func (c *Comm) retract(r mx.Request, kind requestKind) (st mx.Status, done bool) {
	if kind == recvRequest {
		if taken, err := c.seat.ep.Cancel(r); err != nil || taken {
			return st, false
		}
		if st, done, err := c.seat.ep.Wait(r, mx.Infinite); done && err == nil {
			return st, true
		}
		return st, false
	}
	_ = c.seat.ep.Forget(r)
	return st, false
}
