package mpi

import (
	"slices"

	"gomx/mpi/internal/elem"
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
	return c.isend(op, memoryOf[T](b), dest, tag, true)
}

// Bsend is Send that never waits for the receiver (MPI_Bsend): a message that can't be sent at once is copied. There is
// no buffer to attach; copies that are not yet received are limited by memory alone. Finalize waits for them. The error
// of a copy that has failed is returned later, by another buffered send of the rank, which then sends nothing, or by
// Finalize. Its operation is "earlier Bsend", with the rank and the tag of the lost message.
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
	return c.ibsend(op, memoryOf[T](b), dest, tag)
}

// ibsend sends b, or a copy of it.
func (c *Comm) ibsend(op string, b memory, dest, tag int) (Request, error) {
	if err := c.lookAtCopies(); err != nil {
		return Request{}, err
	}
	if c.sendNow(b.bytes, dest, tag) {
		return c.over(sentRequest), nil
	}
	if sends, err := c.checkSend(op, len(b.bytes), dest, tag); err != nil {
		return Request{}, err
	} else if !sends {
		return c.over(sentRequest), nil
	}
	b.bytes = slices.Clone(b.bytes)
	q, err := c.isend(op, b, dest, tag, false)
	if err != nil || q.kind == sentRequest {
		return q, err
	}
	c.seat.copies.keep(q)
	return c.over(sentRequest), nil
}

// Rsend is Send (MPI_Rsend): that a receive is already posted has no advantage here.
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
	return q.by("Irsend"), err
}
