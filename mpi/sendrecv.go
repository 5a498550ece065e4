package mpi

import (
	"errors"
	"fmt"
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
	return c.trade(op, memoryOf[T](out), dest, sendtag, memoryOf[U](in), source, recvtag, false)
}

// trade sends and receives at once; copied: what it sends is no memory of the program.
func (c *Comm) trade(op string, out memory, dest, sendtag int, in memory, source, recvtag int, copied bool) (Status, error) {
	sends, err := c.checkSend(op, len(out.bytes), dest, sendtag)
	if err == nil && sends {
		_, err = c.peer(op, dest, sendtag) // before the receive takes a message
	}
	if err != nil {
		return emptyStatus, err
	}
	q, err := c.irecv(op, in, source, recvtag, nil)
	if err != nil {
		return emptyStatus, err
	}
	var sending Request
	if !c.sendNow(out.bytes, dest, sendtag) {
		if sending, err = c.isend(op, out, dest, sendtag, false); err != nil {
			return q.letGoFor(op, err, true, copied)
		}
	}
	if sending.kind <= nullRequest {
		return q.finish(op)
	}
	return finishBoth(op, [2]Request{q, sending}, copied)
}

// finishBoth waits for a receive and a send, whichever ends first. If the rank of one has failed, the other is given up: a third rank that
// it needs may wait for this one.
func finishBoth(op string, both [2]Request, copied bool) (Status, error) {
	i, st, _, err := anyOf(op, both[:], mx.Infinite)
	if i == Undefined { // the context has ended the wait for both
		st, err = both[0].finish(op)
		_, sendErr := both[1].finish(op)
		return st, bothGivenUp(err, sendErr, copied)
	}
	other := &both[1-i]
	if err = renamed(err, op); errors.Is(err, ErrProcFailed) {
		if i == 1 {
			return other.letGoFor(op, err, true, copied)
		}
		_, err = other.letGoFor(op, err, false, copied)
		return st, err
	}
	rest, restErr := other.finish(op)
	if i == 1 {
		return rest, bothGivenUp(restErr, err, copied)
	}
	return st, bothGivenUp(err, restErr, copied)
}

// letGoFor abandons a receive or send because the other half of the call has failed. The status is that of a receive which was complete.
func (q *Request) letGoFor(op string, err error, receives, copied bool) (Status, error) {
	if q.kind <= nullRequest {
		return emptyStatus, err
	}
	got, done, inUse := q.c.letGo(q.mx())
	st := failedStatus(err)
	if done && receives {
		_ = q.conclude(op, &got, &st)
	}
	return st, usedBy(err, inUse && receives, inUse && !receives, copied)
}

// bothGivenUp returns the error of a receive and a send that a context has ended: rather that of the one which still uses its buffer.
func bothGivenUp(err, sendErr error, copied bool) error {
	receives, sends := usesBuffer(err), usesBuffer(sendErr) && !copied
	if _, ended := errors.AsType[*expiry](err); err == nil || ended && sends && !receives {
		err = sendErr
	}
	return usedBy(err, receives, sends, copied)
}

// usesBuffer reports whether the error of an operation says that it still uses its buffer.
func usesBuffer(err error) bool {
	e, ok := errors.AsType[*expiry](err)
	return ok && e.remark == bufferRemark
}

// usedBy has the error of a call say which of its operations still use their buffers.
func usedBy(err error, receives, sends, copied bool) error {
	remark := ""
	switch {
	case receives && copied:
		remark = bufferRemark
	case receives && sends:
		remark = "both buffers may still be in use"
	case receives:
		remark = "the receive buffer may still be in use"
	case sends && !copied:
		remark = "the send buffer may still be in use"
	}
	if e, ok := errors.AsType[*expiry](err); ok {
		e.remark = remark
	} else if e, ok := errors.AsType[*Error](err); ok && remark != "" {
		e.Cause = fmt.Errorf("%w (%s)", e.Cause, remark)
	}
	return err
}

// reaches reports whether a receive from a rank can be posted at once.
func (c *Comm) reaches(source int) bool {
	return source == AnySource || source == ProcNull || c.peers[source].Load() != nil
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
	if c.reaches(source) && c.sendNow(b, dest, sendtag) {
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
	return c.trade(op, memoryOf[T](out), dest, sendtag, memoryOf[T](b), source, recvtag, true)
}
