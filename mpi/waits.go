package mpi

import (
	"context"
	"errors"
	"sync"
	"time"

	"gomx/mx"
)

// Completion is one of several requests that has ended.
type Completion struct {
	Index  int // its place among the requests
	Status Status
}

// WaitAll waits for all requests, and empties them (MPI_Waitall). sts, unless it is nil, has
// a place for the status of each. The error is the first of those in the order of
// the requests, after all have ended. Error of its own: ErrArg if sts has another length.
func WaitAll(reqs []Request, sts []Status) error {
	if err := checkStatuses("WaitAll", reqs, sts); err != nil {
		return err
	}
	var first error
	for i := range reqs {
		st, err := reqs[i].Wait()
		if sts != nil {
			sts[i] = st
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func checkStatuses(op string, reqs []Request, sts []Status) error {
	if sts != nil && len(sts) != len(reqs) {
		return failOp(op, ErrArg, "%d requests, and room for %d statuses", len(reqs), len(sts))
	}
	return nil
}

// TestAll is WaitAll if all requests are complete, and otherwise leaves them all as
// they are and returns false (MPI_Testall).
func TestAll(reqs []Request, sts []Status) (bool, error) {
	if err := checkStatuses("TestAll", reqs, sts); err != nil {
		return false, err
	}
	for i := range reqs {
		if q := &reqs[i]; q.kind > cancelledRequest && !q.complete() {
			return false, nil
		}
	}
	return true, WaitAll(reqs, sts)
}

// complete reports whether waiting would not block. Errors count: Wait returns them.
func (q *Request) complete() bool {
	one := [1]mx.Request{q.mx()}
	_, done, err := q.c.seat.ep.WaitFirst(noContext, one[:], 0)
	return done || err != nil || q.peer == AnySource && q.c.mourns() != nil
}

// noContext is for calls that nothing ends but what they wait for.
var noContext context.Context

// WaitAny waits for one of the requests, empties it, and returns its place (MPI_Waitany). If
// all are empty, that is Undefined. The context of the first that is not ends it. The error is that of
// the operation.
func WaitAny(reqs []Request) (int, Status, error) {
	i, ready, err := first("WaitAny", reqs, mx.Infinite)
	if !ready {
		return i, emptyStatus, err
	}
	st, err := reqs[i].Wait()
	return i, st, err
}

// TestAny is WaitAny if one of the requests is complete, or if all are empty, and otherwise returns
// false (MPI_Testany).
func TestAny(reqs []Request) (int, Status, bool, error) {
	i, ready, err := first("TestAny", reqs, 0)
	if !ready {
		return Undefined, emptyStatus, err == nil && i == Undefined, err
	}
	st, err := reqs[i].Wait()
	return i, st, true, err
}

// WaitSome waits until one of the requests is complete, empties all that are, and appends them to
// done (MPI_Waitsome). If all are empty it appends nothing. The error is the first of theirs.
func WaitSome(reqs []Request, done []Completion) ([]Completion, error) {
	return some("WaitSome", reqs, done, mx.Infinite)
}

// TestSome is WaitSome without waiting (MPI_Testsome).
func TestSome(reqs []Request, done []Completion) ([]Completion, error) {
	return some("TestSome", reqs, done, 0)
}

func some(op string, reqs []Request, done []Completion, timeout time.Duration) ([]Completion, error) {
	i, ready, err := first(op, reqs, timeout)
	if !ready {
		return done, err
	}
	for ; i < len(reqs); i++ {
		q := &reqs[i]
		if q.kind == noRequest {
			continue
		}
		st, over, failed := q.Test()
		if err == nil {
			err = failed
		}
		if over {
			done = append(done, Completion{i, st})
		}
	}
	return done, err
}

// lists are the requests of mx of those that are waited for together.
var lists = sync.Pool{New: func() any { return new([]mx.Request) }}

// first waits for the first of the requests that is complete. Without ready and without an error, there
// is none to wait for (Undefined), or none was complete in time (-1).
func first(op string, reqs []Request, timeout time.Duration) (at int, ready bool, err error) {
	list := lists.Get().(*[]mx.Request)
	defer lists.Put(list)
	*list = (*list)[:0]
	var c *Comm
	anybody := false
	for i := range reqs {
		q := &reqs[i]
		if q.kind != noRequest && q.kind <= cancelledRequest {
			return i, true, nil
		}
		var r mx.Request
		if q.kind != noRequest {
			if r = q.mx(); c == nil {
				c = q.c
			}
		}
		*list = append(*list, r)
		anybody = anybody || q.peer == AnySource && q.kind == recvRequest
	}
	if c == nil {
		return Undefined, false, nil
	}
	if anybody && timeout != 0 {
		timeout = slice
	}
	var w *longWait
	defer func() { c.seat.waits.leave(w) }()
	for {
		at, ready, err = c.seat.ep.WaitFirst(c.ctx, *list, timeout)
		switch {
		case ready:
			return at, true, nil
		case errors.Is(err, mx.ErrBadRequest) && at >= 0:
			return at, true, nil // waiting for it says what is wrong
		case err != nil:
			return Undefined, false, c.broken(op, Undefined, Undefined, err)
		}
		for i := range reqs {
			if q := &reqs[i]; q.kind == recvRequest && q.peer == AnySource && q.c.mourns() != nil {
				return i, true, nil
			}
		}
		if timeout == 0 {
			return -1, false, nil
		}
		if w == nil {
			w = c.seat.waits.enter(c, op, *list, true)
		}
	}
}

// Cancel takes back a receive that no message has matched (MPI_Cancel). Waiting for it then
// returns at once, with Status.Cancelled; if a message has matched, it ends as if nothing had been. Error:
// ErrRequest for what is no receive; sends can't be taken back.
func (q *Request) Cancel() error {
	if q.kind == nullRequest || q.kind == cancelledRequest {
		return nil
	}
	if q.kind != recvRequest {
		return q.c.fail("Cancel", ErrRequest, "only receives can be taken back, this is %q", opNames[q.kind])
	}
	taken, err := q.c.seat.ep.Cancel(q.mx())
	if err != nil {
		return q.broken("Cancel", err)
	}
	if taken {
		q.kind, q.number = cancelledRequest, 0
	}
	return nil
}

// Free lets go of the operation, which goes on, and empties the request (MPI_Request_free). Its
// buffer must stay as it is until the operation is known to have ended by other means.
func (q *Request) Free() error {
	if q.kind > cancelledRequest {
		if err := q.c.seat.ep.Forget(q.mx()); err != nil {
			return q.broken("Free", err)
		}
	}
	*q = Request{}
	return nil
}
