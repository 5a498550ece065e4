package mpi

import (
	"errors"

	"gomx/mpi/internal/coll"
)

// lastStage is whether a collective is the last one of its rank, and how far that is.
type lastStage uint8

const (
	notLast   lastStage = iota
	lastBegun           // the rank leaves when it is over, also if somebody has died
	lastComes           // and the others have been told that it comes, which can't be taken back
)

// comesRemark is what the error of a Finalize says whose wait alone is over.
const comesRemark = "the others know that this rank has come, and may leave: call it again"

// meetLast waits until all ranks have come to Finalize. Where the context ends it before this rank has told the others that it
// comes, it fails at all ranks. Afterwards only the wait ends. The collective goes on, since ranks below this one in the tree wait
// for what it passes on, and the next call waits for the same one: whether all have come is decided once, and alike everywhere.
func (c *Comm) meetLast(op string) error {
	s := c.seat
	for {
		again := !s.last.Empty()
		if !again {
			q, err := c.net(op).start((*net).meetLast)
			if err != nil {
				return err
			}
			s.last = q
		}
		err := c.awaitLast(op)
		if !again || !s.last.Empty() || err == nil || errors.Is(err, ErrProcFailed) {
			return err
		} // else another rank has failed the earlier call, and calls it again as this one does
	}
}

// meetLast is meet for Finalize.
func (n *net) meetLast(via coll.Net) error {
	n.last = lastBegun
	if n.checked() {
		if err := n.agree(via, deed{kind: coll.KindBarrier}); err != nil {
			return err
		}
	}
	return coll.Meet(via, func() error {
		if n.c.ctx != nil && n.c.ctx.Err() != nil {
			return n.c.broken(n.op, Undefined, Undefined, expired(n.c.ctx, n.c.ctx.Err()))
		}
		n.last = lastComes
		return nil
	})
}

// awaitLast waits for the collective of Finalize that was begun, and empties its request if that has ended.
func (c *Comm) awaitLast(op string) error {
	q := &c.seat.last
	_, err := q.WaitContext(c.ctx)
	if q.Empty() || c.ctx == nil || c.ctx.Err() == nil {
		return err
	}
	if !c.seat.comes(q) {
		_, err = q.Wait() // the context ends it
		return err
	}
	return c.broken(op, Undefined, Undefined, remarked(err, true, comesRemark))
}

// comes reports whether the others were told that this rank comes to Finalize.
func (s *seat) comes(q *Request) bool {
	b := s.nonblocking.tickets.of(q.number)
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.unlock()
	return b.n.last == lastComes
}
