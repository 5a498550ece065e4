package mpi

import (
	"errors"
	"sync"

	"gomx/mx"
)

// cancelled has the numbers of those cancelled receives of a seat that were not waited for since. They are not in the
// requests themselves: Cancel writes nothing that a goroutine reads which waits for one, and may be given a copy.
type cancelled struct {
	mu sync.Mutex
	of map[uint64]struct{}
}

// cancel cancels a receive of the endpoint. A receive that was cancelled before counts as cancelled.
func (k *cancelled) cancel(ep *mx.Endpoint, number uint64) (taken bool, err error) {
	k.mu.Lock() // so that who finds the request gone finds it here
	defer k.mu.Unlock()
	if _, before := k.of[number]; before {
		return true, nil
	}
	if taken, err = ep.Cancel(ep.Request(number)); taken {
		if k.of == nil {
			k.of = map[uint64]struct{}{}
		}
		k.of[number] = struct{}{}
	}
	return taken, err
}

// has reports whether a receive was cancelled.
func (k *cancelled) has(number uint64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, is := k.of[number]
	return is
}

// collect is has that ends the request.
func (k *cancelled) collect(number uint64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, is := k.of[number]
	delete(k.of, number)
	return is
}

// wasCancelled reports whether a call on the request has failed because that was cancelled, and ends it if so.
func (q *Request) wasCancelled(err error) bool {
	return q.receives() && errors.Is(err, mx.ErrBadRequest) && q.c.seat.cancelled.collect(q.number)
}

// Cancel cancels a receive that no message has matched (MPI_Cancel). Waiting for it then returns at once, with
// Status.Cancelled; if a message has matched, the receive completes as usual. In either case it must be waited for, or
// freed. To cancel a receive that another goroutine waits for, call Cancel on a copy of the request that was made
// before: the wait empties its own variable. Error: ErrRequest for a request that is not a receive, since sends can't
// be cancelled, and for an empty one, or a copy of one that was completed and waited for.
func (q *Request) Cancel() error {
	if q == nil {
		return q.absent("Cancel")
	}
	if q.kind == nullRequest {
		return nil
	}
	if q.Empty() {
		return q.c.fail("Cancel", ErrRequest, "the request is empty: there is nothing to cancel")
	}
	if !q.receives() {
		return q.c.fail("Cancel", ErrRequest, "only receives can be cancelled, this is %s", q.what())
	}
	if _, err := q.c.seat.cancelled.cancel(q.c.seat.ep, q.number); err != nil {
		return q.broken("Cancel", err)
	}
	return nil
}

// Free lets the operation go on without a request, and empties the request (MPI_Request_free). The buffer must not be
// reused before the program knows by other means that the operation is complete.
func (q *Request) Free() error {
	if q == nil {
		return q.absent("Free")
	}
	var err error
	switch {
	case q.kind == collectiveRequest:
		err = q.release()
	case q.kind == unpackRequest:
		err = q.unpackLater()
	case q.kind > nullRequest:
		err = q.c.seat.ep.Forget(q.mx())
	}
	if err != nil && !q.wasCancelled(err) {
		return q.broken("Free", err)
	}
	*q = Request{}
	return nil
}
