package mpi

import (
	"cmp"
	"errors"
	"sync"
	"sync/atomic"

	"gomx/mx"
)

// copies are the sends of buffered messages that could not be sent at once.
type copies struct {
	count atomic.Int32 // of sends
	mu    sync.Mutex
	sends []Request // under mu
	next  int       // the one to be tested next, under mu
}

// looks is how many copies a buffered send tests. As it adds no more than one, those that are complete and still kept
// become no more than those that are not.
const looks = 2

func (k *copies) keep(q Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sends = append(k.sends, q)
	k.count.Store(int32(len(k.sends)))
}

// look tests some of the copies, in turn, and removes those that are complete, up to the first that has failed.
func (k *copies) look(test func(q *Request) (done bool, err error)) error {
	if k.count.Load() == 0 {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for range min(looks, len(k.sends)) {
		if k.next >= len(k.sends) {
			k.next = 0
		}
		done, err := test(&k.sends[k.next])
		if !done {
			k.next++
			continue
		}
		last := len(k.sends) - 1
		k.sends[k.next] = k.sends[last]
		k.sends[last] = Request{}
		k.sends = k.sends[:last]
		k.count.Store(int32(last))
		if err != nil {
			return err
		}
	}
	return nil
}

// all removes and returns all copies.
func (k *copies) all() []Request {
	k.mu.Lock()
	defer k.mu.Unlock()
	sends := k.sends
	k.sends = nil
	k.count.Store(0)
	return sends
}

// earlierBsend is the operation of errors that a later call reports.
const earlierBsend = "earlier Bsend"

// lookAtCopies returns the error of an earlier buffered send that has failed, once.
func (c *Comm) lookAtCopies() error {
	if c == nil || c.state == nil { // the send says so
		return nil
	}
	return c.seat.copies.look(testCopy)
}

func testCopy(q *Request) (done bool, err error) {
	st, done, err := q.c.seat.ep.Test(q.mx())
	switch {
	case err != nil:
		return true, q.broken(earlierBsend, err)
	case !done:
		return false, nil
	}
	return true, q.delivered(&st)
}

// awaitCopies waits until all copies have been received. It returns the first error of a copy that has failed, and the first error of
// a wait that the context has ended: the next call waits for that copy again.
func (c *Comm) awaitCopies(op string) (undelivered, late error) {
	for _, q := range c.seat.copies.all() {
		st, done, err := c.await(op, q.mx(), false)
		if done {
			err = q.delivered(&st)
		} else {
			err = c.broken(op, int(q.peer), int(q.tag), err)
		}
		if errors.Is(err, ErrGivenUp) {
			c.seat.copies.keep(q)
			late = cmp.Or(late, err)
			continue
		}
		undelivered = cmp.Or(undelivered, err)
	}
	return undelivered, late
}

// delivered returns the error of a copy that was not received, also if its communicator has been freed since.
func (q *Request) delivered(st *mx.Status) error {
	if st.Code == mx.StatusSuccess {
		return nil
	}
	return q.c.ended(earlierBsend, int(q.peer), int(q.tag), st)
}
