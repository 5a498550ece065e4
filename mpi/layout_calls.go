package mpi

import (
	"fmt"
	"reflect"
	"sync"

	"gomx/mpi/internal/elem"
	"gomx/mx"
)

// unpacking is what is left to do when a receive into many blocks is complete. It is the context of its request.
type unpacking struct {
	layout Layout
	into   []byte
	packed []byte
	size   int
}

// done scatters the received bytes.
func (u *unpacking) done(n int) { u.layout.unpack(u.into, u.packed[:n], u.size) }

// unpackLater has the elements unpacked when they are there, since nobody waits for the request any more.
func (q *Request) unpackLater() error {
	s := q.c.seat
	if err := s.nonblocking.open(s.ep); err != nil {
		return err
	}
	return s.nonblocking.queue.Add(q.mx())
}

// arrived unpacks the elements of a receive that was freed.
func (u *unpacking) arrived(d *mx.Completion) { u.done(int(d.Status.XferLength)) }

// arrived is that of a receive in checked mode.
func (x *expected) arrived(d *mx.Completion) { _ = x.conclude(&d.Status) }

// gathers are segment lists, for the calls that take one.
var gathers = sync.Pool{New: func() any { return new([][]byte) }}

// SendLayout is Send of the elements of buf that a layout names. Up to 256 blocks travel from where they are;
// of more a copy is made. If the context of the communicator ends it, buf stays in use as that of Send, unless it was copied. Errors as those of Send, ErrArg for a layout that makes no sense, and ErrCount if
// buf is too short for it.
func SendLayout[T any](c *Comm, buf []T, l Layout, dest, tag int) error {
	q, err := isendLayout(c, "SendLayout", buf, &l, dest, tag)
	if err == nil {
		_, err = q.finish("SendLayout")
	}
	return err
}

// IsendLayout is Isend, otherwise as SendLayout.
func IsendLayout[T any](c *Comm, buf []T, l Layout, dest, tag int) (Request, error) {
	return isendLayout(c, "IsendLayout", buf, &l, dest, tag)
}

// RecvLayout is Recv into the elements of buf that a layout names, in its order. If the context of the communicator ends it, buf stays
// in use as that of Recv, for up to 256 blocks; for more it is free. Errors as those of
// Recv and SendLayout.
func RecvLayout[T any](c *Comm, buf []T, l Layout, source, tag int) (Status, error) {
	q, err := irecvLayout(c, "RecvLayout", buf, &l, source, tag)
	if err != nil {
		return emptyStatus, err
	}
	return q.finish("RecvLayout")
}

// IrecvLayout is Irecv, otherwise as RecvLayout. Of more than 256 blocks, 255 in checked mode, buf gets the elements when the
// request is waited for, or, if it was freed, when the message has arrived.
func IrecvLayout[T any](c *Comm, buf []T, l Layout, source, tag int) (Request, error) {
	q, err := irecvLayout(c, "IrecvLayout", buf, &l, source, tag)
	return q.by("IrecvLayout"), err
}

// layoutBytes returns the memory of a buffer that a layout fits.
func layoutBytes[T any](c *Comm, op string, buf []T, l *Layout, peer, tag int, wild bool) ([]byte, error) {
	b, ok := elem.Bytes(buf)
	if !ok {
		return nil, pointers[T](c, op, peer, tag)
	}
	if err := c.checkPeer(op, peer, tag, wild); err != nil {
		return nil, err
	}
	if l.wrong != nil {
		return nil, c.failWith(op, peer, tag, ErrArg, l.wrong)
	}
	if len(buf) < l.extent {
		return nil, c.failWith(op, peer, tag, ErrCount, fmt.Errorf("the layout reaches over %d elements, the buffer has %d", l.extent, len(buf)))
	}
	bytes, fits := times(l.count, elem.Size[T]()) // elements that lie on each other may be more than the memory
	if !fits {
		return nil, c.failWith(op, peer, tag, ErrCount, fmt.Errorf("%d elements of %d bytes, a message has at most %d bytes: send it in parts", l.count, elem.Size[T](), uint64(mx.MaxMessage)))
	}
	if peer == ProcNull {
		return b, nil
	}
	return b, c.checkLength(op, bytes, peer, tag)
}

func isendLayout[T any](c *Comm, op string, buf []T, l *Layout, dest, tag int) (Request, error) {
	b, err := layoutBytes(c, op, buf, l, dest, tag, false)
	if err != nil {
		return Request{}, err
	}
	size := elem.Size[T]()
	switch {
	case dest == ProcNull:
		return c.over(sentRequest), nil
	case l.blocks <= 1:
		return c.isend(op, memoryOf[T](l.only(b, size)), dest, tag, false)
	case l.blocks > mx.MaxSegments || c.checksTypes():
		return c.isend(op, memoryOf[T](l.pack(b, size)), dest, tag, false)
	}
	p, err := c.peer(op, dest, tag)
	if err != nil {
		return Request{}, err
	}
	segs := gathers.Get().(*[][]byte)
	*segs = l.segments((*segs)[:0], b, size)
	r, err := c.seat.ep.Isendv(*segs, p.addr, c.out|uint64(tag), nil)
	putGather(segs)
	if err != nil {
		return Request{}, c.broken(op, dest, tag, err)
	}
	return c.newRequest(r, sendRequest, 0, dest, tag).by(op), nil
}

func putGather(segs *[][]byte) {
	clear(*segs)
	gathers.Put(segs)
}

// only returns the memory of the one block that there is, at most.
func (l *Layout) only(b []byte, size int) []byte {
	if l.blocks == 0 {
		return nil
	}
	k := l.first(0)
	return b[k.at*size : (k.at+k.n)*size]
}

func irecvLayout[T any](c *Comm, op string, buf []T, l *Layout, source, tag int) (Request, error) {
	b, err := layoutBytes(c, op, buf, l, source, tag, true)
	if err != nil {
		return Request{}, err
	}
	size := elem.Size[T]()
	switch {
	case l.blocks <= 1:
		return c.irecv(op, memoryOf[T](l.only(b, size)), source, tag, nil)
	case source == ProcNull:
		return c.over(nullRequest), nil
	case l.blocks > mx.MaxSegments || c.checksTypes() && l.blocks >= mx.MaxSegments: // a head is a segment, too
		u := &unpacking{layout: *l, into: b, packed: make([]byte, l.count*size), size: size}
		q, err := c.irecv(op, memoryOf[T](u.packed), source, tag, u)
		if err == nil {
			q.kind = unpackRequest
		}
		return q, err
	}
	value, mask := want(c.out&contextMask, source, tag)
	segs := gathers.Get().(*[][]byte)
	*segs = (*segs)[:0]
	var ctx any
	if c.checksTypes() {
		x := expect(reflect.TypeFor[T](), nil)
		*segs, ctx = append(*segs, x.head[:]), x
	}
	*segs = l.segments(*segs, b, size)
	r, err := c.postv(op, *segs, value, mask, source, tag, ctx)
	putGather(segs)
	if err != nil {
		return Request{}, err
	}
	return c.newRequest(r, recvRequest, size, source, tag), nil
}

// postv is post into segments.
func (c *Comm) postv(op string, segs [][]byte, value, mask uint64, source, tag int, ctx any) (r mx.Request, err error) {
	ep := c.seat.ep
	if source == AnySource {
		r, err = ep.Irecvv(segs, value, mask, ctx)
	} else if p, gone := c.peer(op, source, tag); gone == nil {
		r, err = ep.IrecvvFrom(segs, p.addr, value, mask, ctx)
	} else if m, ok := c.left(value, mask); ok {
		r, err = ep.IrecvvMessage(segs, m, ctx)
	} else {
		return r, gone
	}
	if err != nil {
		return r, c.broken(op, source, tag, err)
	}
	return r, nil
}
