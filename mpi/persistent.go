package mpi

import (
	"errors"

	"gomx/mpi/internal/elem"
)

// Persistent is a send or receive that can be started repeatedly with the same arguments (MPI_Send_init and so on).
// Start returns an ordinary request.
type Persistent struct {
	c         *Comm
	op        string
	mode      mode
	b         memory
	peer, tag int
	last      uint64 // of the request of the last Start
}

type mode uint8

const (
	standardMode mode = iota
	syncMode
	bufferedMode
	receiveMode
)

// SendInit prepares a send (MPI_Send_init). Errors as those of Send.
func SendInit[T any](c *Comm, buf []T, dest, tag int) (*Persistent, error) {
	return prepare(c, "SendInit", buf, dest, tag, standardMode)
}

// SsendInit prepares a synchronous send (MPI_Ssend_init).
func SsendInit[T any](c *Comm, buf []T, dest, tag int) (*Persistent, error) {
	return prepare(c, "SsendInit", buf, dest, tag, syncMode)
}

// BsendInit prepares a buffered send (MPI_Bsend_init).
func BsendInit[T any](c *Comm, buf []T, dest, tag int) (*Persistent, error) {
	return prepare(c, "BsendInit", buf, dest, tag, bufferedMode)
}

// RsendInit is SendInit (MPI_Rsend_init).
func RsendInit[T any](c *Comm, buf []T, dest, tag int) (*Persistent, error) {
	return prepare(c, "RsendInit", buf, dest, tag, standardMode)
}

// RecvInit prepares a receive (MPI_Recv_init). Errors as those of Recv.
func RecvInit[T any](c *Comm, buf []T, source, tag int) (*Persistent, error) {
	return prepare(c, "RecvInit", buf, source, tag, receiveMode)
}

func prepare[T any](c *Comm, op string, buf []T, peer, tag int, m mode) (*Persistent, error) {
	b, ok := elem.Bytes(buf)
	if !ok {
		return nil, pointers[T](c, op, peer, tag)
	}
	if err := c.checkPeer(op, peer, tag, m == receiveMode); err != nil {
		return nil, err
	}
	if m != receiveMode {
		if err := c.checkLength(op, len(b), peer, tag); err != nil {
			return nil, err
		}
	}
	return &Persistent{c: c, op: op, mode: m, b: memoryOf[T](b), peer: peer, tag: tag}, nil
}

// Start begins the operation, and returns its request (MPI_Start). Error: ErrRequest if that of the last Start
// was neither waited for nor freed, also if it was cancelled, or if there is no such operation: p is nil or zero. A send that was
// complete when Start returned has nothing left to wait for, nor has anything with ProcNull, and may be started again at once. One goroutine at a time may start it.
func (p *Persistent) Start() (q Request, err error) {
	if p == nil || p.c == nil {
		return q, failOp("Start", ErrRequest, "there is no operation; SendInit, RecvInit and their like prepare one")
	}
	if p.active() {
		return q, p.c.failWith(p.op, p.peer, p.tag, ErrRequest, errStillActive)
	}
	switch p.mode {
	case receiveMode:
		q, err = p.c.irecv(p.op, p.b, p.peer, p.tag, nil)
	case bufferedMode:
		q, err = p.c.ibsend(p.op, p.b, p.peer, p.tag)
	default:
		if p.mode == standardMode && p.c.sendNow(p.b.bytes, p.peer, p.tag) {
			return p.c.over(sentRequest), nil
		}
		q, err = p.c.isend(p.op, p.b, p.peer, p.tag, p.mode == syncMode)
	}
	p.last = q.number
	return q.by(p.op), err
}

var errStillActive = errors.New("it is started again before its last request was waited for or freed")

// active reports whether the last request is not collected.
func (p *Persistent) active() bool {
	if p.last == 0 {
		return false
	}
	_, err := p.c.seat.ep.Context(p.c.seat.ep.Request(p.last))
	return err == nil || p.c.seat.cancelled.has(p.last)
}

// StartAll starts several, and appends their requests to reqs (MPI_Startall). After an error those before
// it are started.
func StartAll(all []*Persistent, reqs []Request) ([]Request, error) {
	for _, p := range all {
		q, err := p.Start()
		if err != nil {
			return reqs, err
		}
		reqs = append(reqs, q)
	}
	return reqs, nil
}
