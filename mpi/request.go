package mpi

import (
	"errors"
	"fmt"

	"gomx/mx"
)

// Request names an operation that was begun (MPI_Request). It is a value that one variable
// holds: Wait and Test are called on that, and empty it. The zero Request is complete.
type Request struct {
	c    *Comm
	r    mx.Request
	kind requestKind
	size uint32 // bytes of an element of a receive
	room uint32 // bytes of its buffer
	peer int32
	tag  int32

	behind *background // of a collective
	spread *unpacking  // of a receive into many blocks
}

type requestKind uint8

const (
	noRequest        requestKind = iota // there is nothing to wait for (MPI_REQUEST_NULL)
	sentRequest                         // a send that was complete at once
	nullRequest                         // a receive from nobody
	cancelledRequest                    // a receive that was taken back
	sendRequest
	recvRequest
	collectiveRequest
)

var opNames = [...]string{noRequest: "Wait", sentRequest: "Isend", nullRequest: "Irecv", cancelledRequest: "Irecv", sendRequest: "Isend", recvRequest: "Irecv",
	collectiveRequest: "Wait for a collective"}

// Wait blocks until the operation is complete, and empties the request (MPI_Wait). Its error
// is that of the operation, which is in the status too. If the context of the communicator ends
// first, the error wraps its, and the request stays as it is. Of an empty request the status is empty.
func (q *Request) Wait() (Status, error) {
	st, done, err := q.wait(opNames[q.kind], true)
	if done {
		*q = Request{}
	}
	return st, err
}

// Test is Wait if the operation is complete, and otherwise returns false at once (MPI_Test).
func (q *Request) Test() (Status, bool, error) {
	if q.kind <= cancelledRequest {
		st, err := q.Wait()
		return st, true, err
	}
	op := opNames[q.kind]
	got, done, err := q.c.seat.ep.Test(q.r)
	switch {
	case err != nil:
		return emptyStatus, false, q.c.broken(op, int(q.peer), int(q.tag), err)
	case !done:
		err := q.bereaved(op)
		if err != nil {
			*q = Request{}
		}
		return emptyStatus, err != nil, err
	}
	st, err := q.outcome(op, &got)
	*q = Request{}
	return st, true, err
}

// wait waits for the operation, and collects it. Without done it goes on.
func (q *Request) wait(op string, stays bool) (st Status, done bool, err error) {
	switch q.kind {
	case noRequest, sentRequest:
		return emptyStatus, true, nil
	case nullRequest:
		return nullStatus, true, nil
	case cancelledRequest:
		return cancelledStatus, true, nil
	}
	got, done, err := q.c.await(op, q.r, q.peer == AnySource)
	if !done && !stays {
		got, done = q.c.retract(q.r, q.kind)
	}
	if !done {
		err = q.c.broken(op, int(q.peer), int(q.tag), err)
		return emptyStatus, errors.Is(err, ErrProcFailed), err
	}
	st, err = q.outcome(op, &got)
	return st, true, err
}

// finish waits for an operation that the caller has just begun, and that nobody else knows. If
// the context ends first, it is given up.
func (q *Request) finish(op string) (Status, error) {
	st, _, err := q.wait(op, false)
	return st, err
}

// outcome makes a status of what mx says.
func (q *Request) outcome(op string, got *mx.Status) (Status, error) {
	if q.kind == sendRequest && got.Code == mx.StatusSuccess {
		return emptyStatus, nil
	}
	if q.kind == collectiveRequest && got.Code == mx.StatusSuccess {
		st := emptyStatus
		st.Err = q.behind.err
		return st, st.Err
	}
	if q.spread != nil {
		q.spread.done(int(got.XferLength))
	}
	var st Status
	st.received(got, int(q.size))
	if got.Code == mx.StatusSuccess && st.Count*int(q.size) == st.Bytes {
		return st, nil
	}
	if got.Code == mx.StatusSuccess {
		st.Err = q.c.failWith(op, st.Source, st.Tag, ErrType,
			fmt.Errorf("the message has %d bytes, which is no whole number of elements of %d", st.Bytes, q.size))
		return st, st.Err
	}
	st.Err = q.c.ended(op, int(q.peer), int(q.tag), got, int(q.room))
	return st, st.Err
}
