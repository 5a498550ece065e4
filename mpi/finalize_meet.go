package mpi

import "gomx/mpi/internal/coll"

// lastStage says whether a collective is that of Finalize, and how far it has come.
type lastStage uint8

const (
	notLast   lastStage = iota
	lastBegun           // The rank leaves the job when the collective has ended, also if that has failed because a rank has died.
	lastComes           // In addition, the rank has told the others that it comes to Finalize. It can't take that back.
)

// comesRemark is the remark in the error of Finalize when the context has ended the wait, but not the collective.
const comesRemark = "the others know that this rank has come, and may leave: call it again"

// meetLast waits until all ranks have come to Finalize. If the context ends before this rank has told the others that it comes, the
// collective fails at all ranks. If the context ends later, only the wait ends. The collective goes on, since ranks below this one in
// the tree wait for the messages that it forwards, and the next call waits for the same collective. All ranks therefore agree on
// whether all have come. If another rank has failed that collective, the next call returns that failure, as the calls of the other
// ranks do, and the call after that starts a new collective.
func (c *Comm) meetLast(op string) error {
	if s := c.seat; s.last.Empty() {
		n := c.net(op)
		if gone := c.failedRank(op); gone != nil {
			return n.finish(n.leaveOut(gone))
		}
		q, err := n.start((*net).meetLast)
		if err != nil {
			return err
		}
		s.last = q
	}
	return c.awaitLast(op)
}

// leaveOut has the last collective fail before it has begun, because a rank is known to have failed: it neither connects with others nor
// takes part in what they are in, but tells them.
func (n *net) leaveOut(gone error) error {
	n.last = lastBegun
	return n.fail(gone, func(rest coll.Net) error { return coll.Meet(rest, nil) })
}

// meetLast is meet for Finalize.
func (n *net) meetLast(via coll.Net) error {
	n.last = lastBegun
	if err := n.agreeToMeet(via); err != nil {
		return err
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
