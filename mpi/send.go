package mpi

import (
	"fmt"
	"reflect"

	"gomx/mpi/internal/elem"
	"gomx/mx"
)

// Send sends buf to a rank with a tag, and returns when buf may be reused (MPI_Send). That does not mean that the
// message was received: a small message is sent eagerly, and a large one waits for its receive. A send to ProcNull does
// nothing. If the context of the communicator ends the call, buf stays in use until the message was received: see
// Comm.WithContext. The first message to a rank waits, in any mode, until the two are connected.
//
// Errors: ErrComm, ErrRank, ErrTag, ErrType for elements with pointers, ErrCount for 4 GiB or more, ErrProcFailed. Safe
// from any goroutine.
func Send[T any](c *Comm, buf []T, dest, tag int) error {
	if elem.Seen[T]() && c.sendNow(elem.Memory(buf), dest, tag) {
		return nil
	}
	b, ok := elem.Bytes(buf)
	if !ok {
		return pointers[T](c, "Send", dest, tag)
	}
	return c.send("Send", memoryOf[T](b), dest, tag)
}

// Isend starts a send of buf, which must not change until the request is
// complete (MPI_Isend). Otherwise it is as Send.
func Isend[T any](c *Comm, buf []T, dest, tag int) (Request, error) {
	if elem.Seen[T]() && c.sendNow(elem.Memory(buf), dest, tag) {
		return c.over(sentRequest), nil
	}
	b, ok := elem.Bytes(buf)
	if !ok {
		return Request{}, pointers[T](c, "Isend", dest, tag)
	}
	return c.isend("Isend", memoryOf[T](b), dest, tag, false)
}

// pointers is the error of a buffer that can't be seen as bytes.
func pointers[T any](c *Comm, op string, peer, tag int) error {
	if err := c.usable(op); err != nil {
		return err
	}
	return c.failWith(op, peer, tag, ErrType,
		fmt.Errorf("elements of type %v have pointers in them, or no bytes: messages carry plain memory", reflect.TypeFor[T]()))
}

// sendNow sends a message if that takes no time, and reports whether it did. If not, the slow
// path says what is wrong.
func (c *Comm) sendNow(b []byte, dest, tag int) bool {
	if !c.ready(dest, tag) {
		return false
	}
	p := c.peers[dest].Load()
	return p != nil && c.seat.ep.SendNow(b, p.addr, c.out|uint64(tag))
}

// send is a send that waits.
func (c *Comm) send(op string, b memory, dest, tag int) error {
	q, err := c.isend(op, b, dest, tag, false)
	if err != nil || q.kind == sentRequest {
		return err
	}
	_, err = q.finish(op)
	return err
}

// isend starts a send.
func (c *Comm) isend(op string, b memory, dest, tag int, sync bool) (Request, error) {
	if sends, err := c.checkSend(op, len(b.bytes), dest, tag); err != nil {
		return Request{}, err
	} else if !sends {
		return c.over(sentRequest), nil
	}
	p, err := c.peer(op, dest, tag)
	if err != nil {
		return Request{}, err
	}
	var r mx.Request
	switch match := c.out | uint64(tag); {
	case c.checksTypes():
		r, err = c.isendTyped([][]byte{typeHead(b.element), b.bytes}, p.addr, match, sync)
	case sync:
		r, err = c.seat.ep.Issend(b.bytes, p.addr, match, nil)
	default:
		r, err = c.seat.ep.Isend(b.bytes, p.addr, match, nil)
	}
	if err != nil {
		return Request{}, c.broken(op, dest, tag, err)
	}
	return c.newRequest(r, sendRequest, 0, dest, tag).by(op), nil
}

// checkSend returns what is wrong with a send of n bytes, and whether there is anything to send: ProcNull gets nothing.
func (c *Comm) checkSend(op string, n, dest, tag int) (sends bool, err error) {
	if err := c.checkPeer(op, dest, tag, false); err != nil || dest == ProcNull {
		return false, err
	}
	if err := c.checkLength(op, n, dest, tag); err != nil {
		return false, err
	}
	return true, nil
}

func (c *Comm) checkLength(op string, n, peer, tag int) error {
	if int64(n) <= int64(mx.MaxMessage) {
		return nil
	}
	return c.failWith(op, peer, tag, ErrCount, fmt.Errorf("%d bytes, a message, and the buffer of a collective, has at most %d: send it in parts", n, uint64(mx.MaxMessage)))
}
