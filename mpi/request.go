package mpi

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gomx/mx"
)

// Request is an operation that was started (MPI_Request). It is a value that one variable holds: Wait and Test are
// called on that variable, and empty it. The zero Request is complete. The methods of a nil *Request return ErrRequest.
//
// It has four words in four fields: the compiler would pass a larger value through memory, piece by piece, which costs
// time for each request of a program with many of them.
type Request struct {
	c      *Comm
	number uint64 // of the request of mx, or the ticket of a collective
	operation
	party
}

// operation is the kind of a request.
type operation struct {
	kind requestKind
	call uint8  // the place in otherCalls of what has started it; 0: the usual one of the kind
	size uint32 // bytes of an element of a receive
}

// party is the peer and tag of a request.
type party struct{ peer, tag int32 }

type requestKind uint8

const (
	noRequest   requestKind = iota // there is nothing to wait for (MPI_REQUEST_NULL)
	sentRequest                    // a send that was complete at once
	nullRequest                    // a receive from ProcNull
	sendRequest
	recvRequest
	unpackRequest // a receive whose elements are unpacked when it is complete
	collectiveRequest
)

var opNames = [...]string{noRequest: "Wait", sentRequest: "Isend", nullRequest: "Irecv", sendRequest: "Isend", recvRequest: "Irecv", unpackRequest: "Irecv",
	collectiveRequest: "Wait for a collective"}

// otherCalls are the calls that start a request, but for those of opNames.
var otherCalls = [...]string{"", "Issend", "Irsend", "Ibsend", "IsendLayout", "IrecvLayout", "Imrecv", "SendInit", "SsendInit", "BsendInit", "RsendInit", "RecvInit"}

// by has the request bear the name of the call that has started it.
func (q Request) by(op string) Request {
	if op != opNames[q.kind] {
		q.call = uint8(max(0, slices.Index(otherCalls[:], op)))
	}
	return q
}

// op is the name of the call that has started the request.
func (q *Request) op() string {
	if q.call != 0 {
		return otherCalls[q.call]
	}
	return opNames[q.kind]
}

// newRequest makes the request of an operation that mx has started.
func (c *Comm) newRequest(r mx.Request, kind requestKind, size, peer, tag int) Request {
	return Request{c, r.Number(), operation{kind: kind, size: uint32(size)}, party{int32(peer), int32(tag)}}
}

// over makes a request that is complete.
func (c *Comm) over(kind requestKind) Request { return Request{c: c, operation: operation{kind: kind}} }

// receives reports whether it is a receive that may be pending.
func (q *Request) receives() bool { return q.kind == recvRequest || q.kind == unpackRequest }

// mx returns the request of mx. That of a collective is made when it is first asked for.
func (q *Request) mx() mx.Request {
	if q.kind == collectiveRequest {
		return q.c.seat.request(q.number)
	}
	return q.c.seat.ep.Request(q.number)
}

// Empty reports whether there is nothing to wait for: the request is zero, or was waited for and is complete
// (MPI_REQUEST_NULL).
func (q *Request) Empty() bool { return q == nil || q.kind == noRequest }

// absent returns the error of a call on a nil *Request.
func (q *Request) absent(op string) error {
	return failOp(op, ErrRequest, "there is no variable with a request: take the address of the one that has what Isend, Irecv and their like have returned")
}

// Wait blocks until the operation is complete, and empties the request (MPI_Wait). Its error is that of the operation,
// which is also in the status. For an empty request the status is empty. After an abort the error says so, of all operations.
//
// If the context of the communicator ends first, a send or a receive goes on: the error wraps the context's, the
// request stays, as Empty reports, and its buffers are still in use. WaitContext waits for it without that context. A
// collective is ended by the context: it has failed, its request is emptied, and its error also wraps ErrGivenUp.
func (q *Request) Wait() (st Status, err error) {
	if q == nil {
		return emptyStatus, q.absent("Wait")
	}
	done, err := q.wait(q.op(), true, &st)
	if done {
		*q = Request{}
	}
	return st, err
}

// WaitContext is Wait with ctx in place of the context of the communicator; a nil ctx never ends it. When ctx ends, a
// collective goes on, and its request stays like any other. The context that the collective was started with still ends
// it.
func (q *Request) WaitContext(ctx context.Context) (st Status, err error) {
	if q == nil {
		return emptyStatus, q.absent("WaitContext")
	}
	if q.kind <= nullRequest {
		return q.Wait()
	}
	done, err := q.waitLong(ctx, q.op(), true, ctx == nil, &st)
	if done {
		*q = Request{}
	}
	return st, err
}

// Test is Wait if the operation is complete, and otherwise returns false at once (MPI_Test).
func (q *Request) Test() (Status, bool, error) {
	if q == nil {
		return emptyStatus, false, q.absent("Test")
	}
	if q.kind <= nullRequest {
		st, err := q.Wait()
		return st, true, err
	}
	if q.kind == collectiveRequest {
		return q.testCollective()
	}
	return q.test(q.op())
}

// test is Test of a request that is not complete yet, as far as is known.
func (q *Request) test(op string) (st Status, done bool, err error) {
	got, done, err := q.c.seat.ep.Test(q.mx())
	switch {
	case err != nil && q.wasCancelled(err):
		*q = Request{}
		return cancelledStatus, true, nil
	case err != nil:
		err = q.broken(op, err)
		if done = endsAll(err); done {
			*q = Request{}
		}
		return failedStatus(err), done, err
	case !done:
		q.c.seat.giveWay()
		err := q.anySourceFailed(op)
		if err != nil {
			*q = Request{}
		}
		return failedStatus(err), err != nil, err
	}
	err = q.conclude(op, &got, &st)
	*q = Request{}
	return st, true, err
}

// endsAll reports whether an error of a wait says that the operation will never be complete.
func endsAll(err error) bool { return errors.Is(err, ErrProcFailed) || errors.Is(err, ErrAborted) }

// wait waits for the operation, and collects it into st. If done is false, the operation goes on. If the context ends
// first, the request is given up unless stays is true.
func (q *Request) wait(op string, stays bool, st *Status) (done bool, err error) {
	if q.kind <= nullRequest {
		*st = *endings[q.kind]
		return true, nil
	}
	if q.kind == collectiveRequest {
		if b := q.c.seat.nonblocking.tickets.of(q.number); b != nil {
			if ended, _ := q.hasEnded(b, q.c.glances()); ended {
				return true, q.collect(st)
			}
		}
	}
	ctx := q.heeds()
	if ctx == nil {
		if got, done, _ := q.c.seat.ep.Wait(q.mx(), mx.Infinite); done {
			return true, q.conclude(op, &got, st)
		}
	}
	return q.waitLong(ctx, op, stays, ctx == nil, st)
}

// heeds returns the context that ends a wait for the request, or nil. The context of a collective soon ends the
// collective itself, which is waited for instead.
func (q *Request) heeds() context.Context {
	if q.kind == collectiveRequest {
		return nil
	}
	return q.c.ctx
}

// waitLong is wait with a context, and the rest of a wait that was woken up.
func (q *Request) waitLong(ctx context.Context, op string, stays, woken bool, st *Status) (done bool, err error) {
	if q.kind == collectiveRequest {
		op = q.collective()
	}
	got, done, err := q.c.awaitLong(ctx, op, q.mx(), q.peer == AnySource, woken)
	switch {
	case done:
	case q.wasCancelled(err):
		*st = cancelledStatus
		return true, nil
	case stays:
		err = remarked(err, true, staysRemark)
	default:
		var inUse bool
		if got, done, inUse = q.c.letGo(q.mx()); inUse {
			err = remarked(err, false, bufferRemark)
		}
	}
	if !done {
		err = q.broken(op, err)
		*st = failedStatus(err)
		return endsAll(err), err
	}
	return true, q.conclude(op, &got, st)
}

// endings are the statuses of requests that are complete without a message.
var endings = [...]*Status{noRequest: &emptyStatus, sentRequest: &emptyStatus, nullRequest: &nullStatus}

// finish waits for an operation that the caller has just started, and whose request nobody else has. If the context
// ends first, the request is given up.
func (q *Request) finish(op string) (st Status, err error) {
	_, err = q.wait(op, false, &st)
	return st, err
}

func (q *Request) broken(op string, err error) error {
	return q.c.broken(op, int(q.peer), int(q.tag), err)
}

// fine reports whether an operation has ended so that only its status has to be filled in.
func (q *Request) fine(got *mx.Status) bool {
	return got.Code == mx.StatusSuccess && got.Context == nil && (q.size <= 1 || got.XferLength%q.size == 0)
}

// conclude fills in the status of an operation that has ended, and returns its error.
func (q *Request) conclude(op string, got *mx.Status, st *Status) error {
	if q.kind == recvRequest && got.Code == mx.StatusSuccess && got.Context == nil {
		if st.received(got, q.size) {
			return nil
		}
	}
	return q.concludeRest(op, got, st)
}

// concludeRest is conclude except for receives of whole elements.
func (q *Request) concludeRest(op string, got *mx.Status, st *Status) error {
	if !q.receives() && got.Code == mx.StatusSuccess || q.kind == sendRequest && got.Code == mx.StatusTruncated { // which is the receiver's error
		*st = emptyStatus
		if q.kind == collectiveRequest {
			return q.collect(st)
		}
		return nil
	}
	var mismatch error
	switch x := got.Context.(type) {
	case *unpacking:
		x.done(int(got.XferLength))
	case *headed:
		x.conclude(got)
	case *expected:
		mismatch = x.conclude(got)
	}
	switch whole := st.received(got, q.size); {
	case mismatch != nil:
		st.Err = q.c.failWith(op, st.Source, st.Tag, ErrType, mismatch)
	case got.Code != mx.StatusSuccess:
		st.Err = q.c.ended(op, int(q.peer), int(q.tag), got)
	case !whole:
		st.Err = q.c.failWith(op, st.Source, st.Tag, ErrType,
			fmt.Errorf("the message has %d bytes, which is not a multiple of the element size, %d: receive into elements of the type that was sent", st.Bytes, q.size))
	}
	return st.Err
}
