package mpi

import (
	"errors"
	"reflect"

	"gomx/mpi/internal/elem"
	"gomx/mx"
)

// Message is a message that Mprobe or Improbe has taken (MPI_Message). It is received once, save one from
// ProcNull, which has no bytes. Its receives have the context of the communicator that the probe was called on, if that had one
// (WithContext). One goroutine at a time may receive it.
type Message struct {
	c    *Comm
	m    mx.Message // zero: from nobody
	st   Status
	gone bool
}

var errReceived = errors.New("the message was received before, or there is none")

// Mrecv receives the message into buf (MPI_Mrecv). If the context of the communicator ends it, buf stays in use until all of the
// message has come. Errors as those of Recv, and ErrRequest for a message that was received before.
func Mrecv[T any](m *Message, buf []T) (Status, error) {
	q, err := imrecv(m, "Mrecv", buf)
	if err != nil {
		return emptyStatus, err
	}
	return q.finish("Mrecv")
}

// Imrecv starts to receive the message (MPI_Imrecv). Otherwise it is as Mrecv.
func Imrecv[T any](m *Message, buf []T) (Request, error) { return imrecv(m, "Imrecv", buf) }

func imrecv[T any](m *Message, op string, buf []T) (Request, error) {
	if m == nil || m.c == nil || m.gone {
		return Request{}, failOp(op, ErrRequest, "%w", errReceived)
	}
	c := m.c
	b, ok := elem.Bytes(buf)
	if !ok {
		return Request{}, pointers[T](c, op, m.st.Source, m.st.Tag)
	}
	if err := c.usable(op); err != nil {
		return Request{}, err
	}
	if m.st.Source == ProcNull {
		return c.over(nullRequest), nil
	}
	var r mx.Request
	var err error
	if c.checksTypes() {
		x := expect(reflect.TypeFor[T](), nil)
		r, err = c.seat.ep.IrecvvMessage(x.segments(b), m.m, x)
	} else {
		r, err = c.seat.ep.IrecvMessage(room(b), m.m, nil)
	}
	if err != nil {
		return Request{}, c.broken(op, m.st.Source, m.st.Tag, err)
	}
	m.gone = true
	return c.newRequest(r, recvRequest, elem.Size[T](), m.st.Source, m.st.Tag).by(op), nil
}
