package mpi

import (
	"gomx/mpi/internal/elem"
	"gomx/mx"
)

// Recv receives a message into buf from a rank, or AnySource, with a tag, or AnyTag
// (MPI_Recv). The message may be shorter than buf: Status.Count says how many elements
// have come. From ProcNull nothing comes, at once.
//
// Errors: ErrComm, ErrRank, ErrTag, ErrType for elements with pointers, and for a message that is no
// whole number of elements; ErrTruncate for a message that is longer than buf, which then holds
// its beginning; ErrProcFailed if the rank, or with AnySource any rank of the communicator, has died.
// Safe from any goroutine.
func Recv[T any](c *Comm, buf []T, source, tag int) (Status, error) {
	b, ok := elem.Bytes(buf)
	if !ok {
		return emptyStatus, pointers[T](c, "Recv", source, tag)
	}
	if r, known := c.recvKnown(b, source, tag); known {
		return c.recvWait(r, len(b), elem.Size[T](), source, tag)
	}
	q, err := c.irecv("Recv", b, elem.Size[T](), source, tag)
	if err != nil {
		return emptyStatus, err
	}
	return q.finish("Recv")
}

// Irecv starts a receive into buf, which must not be touched until the request is
// complete (MPI_Irecv). Otherwise it is as Recv.
func Irecv[T any](c *Comm, buf []T, source, tag int) (Request, error) {
	b, ok := elem.Bytes(buf)
	if !ok {
		return Request{}, pointers[T](c, "Irecv", source, tag)
	}
	return c.irecv("Irecv", b, elem.Size[T](), source, tag)
}

// recvKnown posts a receive from a rank that we are connected with, for a certain tag. If not, the slow path
// says what is wrong.
func (c *Comm) recvKnown(b []byte, source, tag int) (mx.Request, bool) {
	if c == nil || uint(source) >= uint(len(c.peers)) || uint(tag) > TagUB || c.ctx != nil || c.state.freed.Load() {
		return mx.Request{}, false
	}
	p := c.peers[source].Load()
	if p == nil {
		return mx.Request{}, false
	}
	value := c.out&contextMask | uint64(source)<<rankShift | uint64(tag)
	r, err := c.seat.ep.IrecvFrom(b, p.addr, value, mx.MatchMaskNone, nil)
	return r, err == nil
}

// recvWait waits for it.
func (c *Comm) recvWait(r mx.Request, room, size, source, tag int) (Status, error) {
	got, done, err := c.seat.ep.Wait(r, mx.Infinite)
	if n := int(got.XferLength); done && got.Code == mx.StatusSuccess {
		if count := n / size; count*size == n {
			return Status{Source: source, Tag: tag, Count: count, Bytes: n}, nil
		}
	}
	q := Request{c: c, r: r, kind: recvRequest, size: uint32(size), room: uint32(room), peer: int32(source), tag: int32(tag)}
	if done {
		return q.outcome("Recv", &got)
	}
	if err != nil {
		return emptyStatus, c.broken("Recv", source, tag, err)
	}
	return q.finish("Recv") // Wakeup
}

// irecv starts a receive of elements of a size.
func (c *Comm) irecv(op string, b []byte, size, source, tag int) (Request, error) {
	if err := c.checkPeer(op, source, tag, true); err != nil {
		return Request{}, err
	}
	if source == ProcNull {
		return Request{c: c, kind: nullRequest}, nil
	}
	if err := c.checkLength(op, len(b), source, tag); err != nil {
		return Request{}, err
	}
	value, mask := want(c.out&contextMask, source, tag)
	r, err := c.post(op, b, value, mask, source, tag)
	if err != nil {
		return Request{}, err
	}
	return Request{c: c, r: r, kind: recvRequest, size: uint32(size), room: uint32(len(b)), peer: int32(source), tag: int32(tag)}, nil
}

// post posts a receive, tied to the source if that is named.
func (c *Comm) post(op string, b []byte, value, mask uint64, source, tag int) (r mx.Request, err error) {
	ep := c.seat.ep
	if source == AnySource {
		r, err = ep.Irecv(b, value, mask, nil)
	} else if p, gone := c.peer(op, source, tag); gone == nil {
		r, err = ep.IrecvFrom(b, p.addr, value, mask, nil)
	} else if m, ok := c.left(value, mask); ok {
		r, err = ep.IrecvMessage(b, m, nil)
	} else {
		return r, gone
	}
	if err != nil {
		return r, c.broken(op, source, tag, err)
	}
	return r, nil
}

// left takes a message that somebody has sent who can't be reached any more.
func (c *Comm) left(value, mask uint64) (mx.Message, bool) {
	m, _, found, err := c.seat.ep.Iclaim(value, mask)
	return m, found && err == nil
}
