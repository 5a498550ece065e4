package mpi

import (
	"cmp"
	"errors"
	"slices"

	"gomx/mpi/internal/elem"
	"gomx/mx"
)

// Sendrecv sends and receives at the same time, so that ranks that exchange messages don't block each other
// (MPI_Sendrecv). The buffers must not overlap. If the context of the communicator ends the call, they stay in use like
// those of Send and of Recv. Errors: those of Send and Recv, and ErrArg.
func Sendrecv[T, U any](c *Comm, send []T, dest, sendtag int, recv []U, source, recvtag int) (Status, error) {
	const op = "Sendrecv"
	out, ok := elem.Bytes(send)
	if !ok {
		return emptyStatus, pointers[T](c, op, dest, sendtag)
	}
	in, ok := elem.Bytes(recv)
	if !ok {
		return emptyStatus, pointers[U](c, op, source, recvtag)
	}
	if elem.Overlap(out, in) {
		if err := c.usable(op); err != nil {
			return emptyStatus, err
		}
		return emptyStatus, c.fail(op, ErrArg, "the buffers share memory: SendrecvReplace is for one buffer")
	}
	return c.trade(op, memoryOf[T](out), dest, sendtag, memoryOf[U](in), source, recvtag)
}

// trade sends and receives at once.
func (c *Comm) trade(op string, out memory, dest, sendtag int, in memory, source, recvtag int) (Status, error) {
	if err := c.checkPeer(op, dest, sendtag, false); err != nil {
		return emptyStatus, err
	}
	q, err := c.irecv(op, in, source, recvtag, nil)
	if err != nil {
		return emptyStatus, err
	}
	var sending Request
	if !c.sendNow(out.bytes, dest, sendtag) {
		if sending, err = c.isend(op, out, dest, sendtag, false); err != nil {
			q.giveUp()
			return emptyStatus, err
		}
	}
	if sending.kind <= nullRequest {
		return q.finish(op)
	}
	return finishBoth(op, [2]Request{q, sending})
}

// finishBoth waits for a receive and a send, whichever ends first. If the rank of one has failed, the other is given up: a third rank that
// it needs may wait for this one.
func finishBoth(op string, both [2]Request) (Status, error) {
	i, st, _, err := anyOf(op, both[:], mx.Infinite)
	if i == Undefined { // the context has ended the wait for both
		st, err = both[0].finish(op)
		_, sendErr := both[1].finish(op)
		return st, cmp.Or(err, sendErr)
	}
	other := &both[1-i]
	if err = renamed(err, op); errors.Is(err, ErrProcFailed) {
		if _, _, inUse := other.c.letGo(other.mx()); inUse {
			err = remarked(err, false, bufferRemark)
		}
		return st, err
	}
	rest, restErr := other.finish(op)
	if i == 1 {
		st = rest
	}
	return st, cmp.Or(err, restErr)
}

// giveUp lets go of a request that the caller has just made.
func (q *Request) giveUp() {
	if q.kind > nullRequest {
		q.c.letGo(q.mx())
	}
}

// SendrecvReplace sends buf, and receives into the same buffer (MPI_Sendrecv_replace). If the context of the
// communicator ends the call, buf stays in use like that of Recv: the message that is sent is a copy.
func SendrecvReplace[T any](c *Comm, buf []T, dest, sendtag, source, recvtag int) (Status, error) {
	const op = "SendrecvReplace"
	b, ok := elem.Bytes(buf)
	if !ok {
		return emptyStatus, pointers[T](c, op, dest, sendtag)
	}
	if err := c.checkPeer(op, source, recvtag, true); err != nil {
		return emptyStatus, err // before anything is sent
	}
	if c.sendNow(b, dest, sendtag) {
		q, err := c.irecv(op, memoryOf[T](b), source, recvtag, nil)
		if err != nil {
			return emptyStatus, err
		}
		return q.finish(op)
	}
	sends, err := c.checkSend(op, len(b), dest, sendtag)
	if err != nil {
		return emptyStatus, err
	}
	var out []byte
	if sends {
		out = slices.Clone(b)
	}
	return c.trade(op, memoryOf[T](out), dest, sendtag, memoryOf[T](b), source, recvtag)
}
