package mpi

import (
	"slices"

	"gomx/mpi/internal/elem"
	"gomx/mx"
)

// Ssend is Send, and returns only when a receive has matched the message (MPI_Ssend).
func Ssend[T any](c *Comm, buf []T, dest, tag int) error {
	q, err := issend(c, "Ssend", buf, dest, tag)
	if err == nil {
		_, err = q.finish("Ssend")
	}
	return err
}

// Issend is Isend, and is complete only when a receive has matched the message (MPI_Issend).
func Issend[T any](c *Comm, buf []T, dest, tag int) (Request, error) {
	return issend(c, "Issend", buf, dest, tag)
}

func issend[T any](c *Comm, op string, buf []T, dest, tag int) (Request, error) {
	b, ok := elem.Bytes(buf)
	if !ok {
		return Request{}, pointers[T](c, op, dest, tag)
	}
	return c.isend(op, b, dest, tag, true)
}

// Bsend is Send, and never waits for the receiver (MPI_Bsend): a message that can't leave at once is
// copied. There is no buffer to attach; what was copied and is not yet received is bounded by memory alone.
// Finalize waits for it.
func Bsend[T any](c *Comm, buf []T, dest, tag int) error {
	_, err := ibsend(c, "Bsend", buf, dest, tag)
	return err
}

// Ibsend is Bsend. Its request is complete (MPI_Ibsend).
func Ibsend[T any](c *Comm, buf []T, dest, tag int) (Request, error) {
	return ibsend(c, "Ibsend", buf, dest, tag)
}

func ibsend[T any](c *Comm, op string, buf []T, dest, tag int) (Request, error) {
	b, ok := elem.Bytes(buf)
	if !ok {
		return Request{}, pointers[T](c, op, dest, tag)
	}
	return c.ibsend(op, b, dest, tag)
}

// ibsend sends b, or a copy of it.
func (c *Comm) ibsend(op string, b []byte, dest, tag int) (Request, error) {
	if c.sendNow(b, dest, tag) {
		return c.over(sentRequest), nil
	}
	q, err := c.isend(op, slices.Clone(b), dest, tag, false)
	if err != nil || q.kind == sentRequest {
		return q, err
	}
	c.seat.keepSending(q.mx())
	return c.over(sentRequest), nil
}

// keepSending remembers a send of a copy. Earlier ones that are complete are collected.
func (s *seat) keepSending(r mx.Request) {
	s.copies.Lock()
	defer s.copies.Unlock()
	s.copies.sends = append(slices.DeleteFunc(s.copies.sends, func(r mx.Request) bool {
		_, done, err := s.ep.Test(r)
		return done || err != nil
	}), r)
}

// sendCopies waits until the copies have been received.
func (c *Comm) sendCopies(op string) error {
	s := c.seat
	s.copies.Lock()
	sends := s.copies.sends
	s.copies.sends = nil
	s.copies.Unlock()
	for _, r := range sends {
		st, done, err := c.await(op, r, false)
		if !done {
			return c.broken(op, Undefined, Undefined, err)
		}
		if st.Code != mx.StatusSuccess {
			return c.fail(op, ErrProcFailed, "a buffered send has not arrived: %w", st.Code)
		}
	}
	return nil
}

// Rsend is Send (MPI_Rsend): that a receive is posted already saves nothing here.
func Rsend[T any](c *Comm, buf []T, dest, tag int) error {
	if err := Send(c, buf, dest, tag); err != nil {
		return renamed(err, "Rsend")
	}
	return nil
}

// Irsend is Isend (MPI_Irsend).
func Irsend[T any](c *Comm, buf []T, dest, tag int) (Request, error) {
	q, err := Isend(c, buf, dest, tag)
	if err != nil {
		err = renamed(err, "Irsend")
	}
	return q, err
}
