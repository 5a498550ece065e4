package mpi

import (
	"errors"

	"gomx/mpi/internal/elem"
	"gomx/mx"
)

// Recv receives a message into buf from a rank, or AnySource, with a tag, or AnyTag (MPI_Recv). The message may be
// shorter than buf: Status.Count is the number of elements. A receive from ProcNull completes at once, empty. If the
// context of the communicator ends the call and a message had matched, buf stays in use until all of that message has
// arrived; otherwise buf may be reused: see Comm.WithContext.
//
// Errors: ErrComm, ErrRank, ErrTag, ErrType for elements with pointers and for a message whose size is not a multiple
// of the element size; ErrTruncate for a message that is longer than buf, which then holds its beginning; ErrProcFailed
// if the rank, or with AnySource any rank of the communicator, has failed. Safe from any goroutine.
func Recv[T any](c *Comm, buf []T, source, tag int) (st Status, err error) {
	if elem.Seen[T]() && c.recvNow(elem.Memory(buf), elem.Size[T](), source, tag, &st) {
		return st, st.Err
	}
	b, ok := elem.Bytes(buf)
	if !ok {
		return emptyStatus, pointers[T](c, "Recv", source, tag)
	}
	q, err := c.irecvAny("Recv", memoryOf[T](b), source, tag, nil)
	if err != nil {
		return emptyStatus, err
	}
	return q.finish("Recv")
}

// Irecv starts a receive into buf, which must not be touched until the request is
// complete (MPI_Irecv). Otherwise it is as Recv.
func Irecv[T any](c *Comm, buf []T, source, tag int) (Request, error) {
	if elem.Seen[T]() {
		if q, ok := c.irecvNow(elem.Memory(buf), elem.Size[T](), source, tag, nil); ok {
			return q, nil
		}
	}
	b, ok := elem.Bytes(buf)
	if !ok {
		return Request{}, pointers[T](c, "Irecv", source, tag)
	}
	return c.irecvAny("Irecv", memoryOf[T](b), source, tag, nil)
}

// recvNow receives from a rank that we are connected with, for a certain tag. False: the slow path says
// what is wrong, and begins anew.
func (c *Comm) recvNow(b []byte, size, source, tag int, st *Status) bool {
	if !c.ready(source, tag) {
		return false
	}
	p := c.peers[source].Load()
	if p == nil {
		return false
	}
	value := c.out&contextMask | uint64(source)<<rankShift | uint64(tag)
	n, r, err := c.seat.ep.RecvNow(b, p.addr, value, mx.MatchMaskNone)
	st.Source, st.Tag, st.Bytes, st.Count = source, tag, n, n
	if size > 1 {
		st.Count = n / size
	}
	if err != nil || !r.IsZero() || size > 1 && st.Count*size != n {
		*st = c.recvLater(value, n, r, err, size)
	}
	return true
}

// recvLater is the rest of a receive that is not over at once, or has not ended well.
func (c *Comm) recvLater(value uint64, n int, r mx.Request, err error, size int) (st Status) {
	const op = "Recv"
	source, tag := sourceOf(value), tagOf(value)
	q := c.newRequest(r, recvRequest, size, source, tag)
	failed, ended := errors.AsType[*mx.StatusError](err)
	switch {
	case r.IsZero() && err == nil:
		_ = q.conclude(op, &mx.Status{MatchInfo: value, MsgLength: uint32(n), XferLength: uint32(n)}, &st)
	case ended:
		_ = q.conclude(op, &failed.Status, &st)
	case err != nil:
		st = emptyStatus
		st.Err = c.broken(op, source, tag, err)
	default:
		st, err = q.finish(op)
		st.Err = err
	}
	return st
}

// irecv starts a receive.
func (c *Comm) irecv(op string, b memory, source, tag int, ctx any) (Request, error) {
	if q, ok := c.irecvNow(b.bytes, b.size, source, tag, ctx); ok {
		return q, nil
	}
	return c.irecvAny(op, b, source, tag, ctx)
}

// irecvNow starts a receive of elements of a size from a rank that we are connected with, for a certain tag. False: the slow path says
// what is wrong.
func (c *Comm) irecvNow(b []byte, size, source, tag int, ctx any) (Request, bool) {
	if c.ready(source, tag) {
		if p := c.peers[source].Load(); p != nil {
			value := c.out&contextMask | uint64(source)<<rankShift | uint64(tag)
			if r, err := c.seat.ep.IrecvFrom(room(b), p.addr, value, mx.MatchMaskNone, ctx); err == nil {
				return c.newRequest(r, recvRequest, size, source, tag), true
			}
		}
	}
	return Request{}, false
}

// room returns what of a buffer a message may fill.
func room(b []byte) []byte { return b[:min(uint64(len(b)), uint64(mx.MaxMessage))] }

// irecvAny is irecv from whomever, and from somebody whom the rank is not connected with. It says what is wrong.
func (c *Comm) irecvAny(op string, b memory, source, tag int, ctx any) (Request, error) {
	if err := c.checkPeer(op, source, tag, true); err != nil {
		return Request{}, err
	}
	if source == ProcNull {
		return c.over(nullRequest), nil
	}
	value, mask := want(c.out&contextMask, source, tag)
	var r mx.Request
	var err error
	if c.checksTypes() {
		x := expect(b.element, ctx)
		r, err = c.postv(op, x.segments(b.bytes), value, mask, source, tag, x)
	} else {
		r, err = c.post(op, room(b.bytes), value, mask, source, tag, ctx)
	}
	if err != nil {
		return Request{}, err
	}
	return c.newRequest(r, recvRequest, b.size, source, tag), nil
}

// post posts a receive, tied to the source if that is named.
func (c *Comm) post(op string, b []byte, value, mask uint64, source, tag int, ctx any) (r mx.Request, err error) {
	ep := c.seat.ep
	if source == AnySource {
		r, err = ep.Irecv(b, value, mask, ctx)
	} else if p, gone := c.peer(op, source, tag); gone == nil {
		r, err = ep.IrecvFrom(b, p.addr, value, mask, ctx)
	} else {
		return c.postLeft(op, b, value, mask, source, tag, ctx, gone)
	}
	if err != nil {
		return r, c.broken(op, source, tag, err)
	}
	return r, nil
}

// postLeft receives what somebody has sent who can't be reached any more, or returns why that is.
func (c *Comm) postLeft(op string, b []byte, value, mask uint64, source, tag int, ctx any, gone error) (r mx.Request, err error) {
	m, ok := c.left(value, mask)
	if !ok {
		return r, gone
	}
	if r, err = c.seat.ep.IrecvMessage(b, m, ctx); err != nil {
		return r, c.broken(op, source, tag, err)
	}
	return r, nil
}

// left takes a message that somebody has sent who can't be reached any more.
func (c *Comm) left(value, mask uint64) (mx.Message, bool) {
	m, _, found, err := c.seat.ep.Iclaim(value, mask)
	return m, found && err == nil
}
