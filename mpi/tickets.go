package mpi

import (
	"sync"

	"gomx/mx"
)

// tickets name the nonblocking collectives of a seat in their requests. A number names one collective, and none once that was collected.
type tickets struct {
	mu   sync.Mutex
	list []ticket
	free []uint32 // indices
}

type ticket struct {
	b          *background // nil: it is free
	generation uint32
}

// issue returns a number for a collective.
func (t *tickets) issue(b *background) (number uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := len(t.free) - 1
	if last < 0 {
		t.list = append(t.list, ticket{})
		t.free, last = append(t.free, uint32(len(t.list)-1)), 0
	}
	i := t.free[last]
	t.free = t.free[:last]
	t.list[i].b = b
	return uint64(t.list[i].generation)<<32 | uint64(i)
}

// of returns the collective of a number, or nil if it was collected.
func (t *tickets) of(number uint64) *background {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.find(number).b
}

// redeem is of that ends the number.
func (t *tickets) redeem(number uint64) *background {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := t.find(number)
	b := at.b
	if b != nil {
		at.b = nil
		at.generation++
		t.free = append(t.free, uint32(number))
	}
	return b
}

// find returns the ticket of a number. The lock is held.
func (t *tickets) find(number uint64) *ticket {
	if i := uint32(number); int(i) < len(t.list) && t.list[i].generation == uint32(number>>32) {
		return &t.list[i]
	}
	return &ticket{}
}

// glances is how often Wait makes progress before it asks for a request of mx to sleep on: on a core of its own a rank
// soon gets what it waits for.
const glances = 64

// hasEnded reports whether the collective of a request has ended, and nobody has asked for a request of mx. Up to so many times it makes
// progress first. The error is that of the progress: the endpoint is closed, and the collective may never end.
func (q *Request) hasEnded(b *background, glances int) (ended bool, err error) {
	for ; ; glances-- {
		switch {
		case b.asked.Load():
			return false, nil
		case b.ended.Load():
			return true, nil
		case glances == 0 || err != nil:
			return false, err
		}
		err = q.c.seat.ep.Progress()
	}
}

// glances returns how often a wait for a collective of the communicator makes progress before it sleeps.
func (c *Comm) glances() int {
	if c.seat.job.launch == nil || c.crowd() > 1 {
		return 1
	}
	return glances
}

// noRequestOfMx is a request that does not exist, for those of collectives that were collected or can't be waited for any more.
const noRequestOfMx = ^uint64(0)

// request returns a request of mx that completes when the collective of a number ends: a receive of a message that the rank sends to
// itself then.
func (s *seat) request(number uint64) mx.Request {
	if b := s.nonblocking.tickets.of(number); b != nil {
		return b.request(s)
	}
	return s.ep.Request(noRequestOfMx)
}

func (b *background) request(s *seat) mx.Request {
	b.mu.Lock()
	defer b.unlock()
	if !b.asked.Load() {
		ends := bitsOf(inwardContext, 0) | uint64(s.told.Add(1))
		r, err := s.ep.Irecv(nil, ends, mx.MatchMaskNone, b)
		if err != nil { // the endpoint is closed
			return s.ep.Request(noRequestOfMx)
		}
		b.ends, b.number = ends, r.Number()
		b.asked.Store(true)
		if b.stage == stageOver {
			b.tell(s)
		}
	}
	return s.ep.Request(b.number)
}

// tell completes the request of mx.
func (b *background) tell(s *seat) {
	s.post(nil, s.peers[s.rank].Load(), b.ends) // only the end of the endpoint fails it, and that ends the receive too
}

// testCollective is Test for a collective.
func (q *Request) testCollective() (st Status, done bool, err error) {
	op := q.op()
	b := q.c.seat.nonblocking.tickets.of(q.number)
	if b == nil || b.asked.Load() {
		return q.test(op)
	}
	switch ended, over := q.hasEnded(b, 1); {
	case over != nil:
		return q.test(op)
	case !ended:
		q.c.seat.giveWay()
		return emptyStatus, false, nil
	}
	err = q.collect(&st)
	*q = Request{}
	return st, true, err
}

// collect ends a collective that is over, and returns its error.
func (q *Request) collect(st *Status) error {
	b := q.c.seat.nonblocking.tickets.redeem(q.number)
	if b == nil { // by another copy of the request
		*st = failedStatus(q.broken(q.op(), mx.ErrBadRequest))
	} else {
		*st = failedStatus(b.collect(q.c.state))
	}
	return st.Err
}

// release lets the collective go on without a request.
func (q *Request) release() error {
	b := q.c.seat.nonblocking.tickets.redeem(q.number)
	if b == nil {
		return mx.ErrBadRequest
	}
	b.mu.Lock()
	defer b.unlock()
	if !b.asked.Load() {
		return nil
	}
	return q.c.seat.ep.Forget(q.c.seat.ep.Request(b.number))
}
