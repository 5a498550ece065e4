package mpi

import (
	"sync"

	"gomx/mx"
)

// large reports whether an element, or two that are compared and swapped, are too large for an atomic of mx.
func (w *window) large() bool { return w.size > mx.MaxAtomic/2 }

// combining is a call that combines elements with those of a target, by atomics of mx.
type combining struct {
	*window
	t      *target
	to     mx.EndpointAddr
	handle mx.WindowHandle // of the memory, or of the lock's word
	call   string
	rank   int
}

// operands is memory for the operands and the result of an atomic: mx goes on with it when the wait for it is given up.
type operands [mx.MaxAtomic]byte

var operandPool = sync.Pool{New: func() any { return new(operands) }}

// combine has no result, and does not wait until it is done.
func (a *combining) combine(op mx.AtomicOp, in []byte, at int) error {
	ep, most := a.c.seat.ep, mx.MaxAtomic/a.size*a.size
	for ; len(in) > 0; at, in = at+most, in[min(most, len(in)):] {
		piece := in[:min(most, len(in))]
		gone, err := ep.Atomic(op, a.kind, piece, a.to, a.handle, uint32(at))
		if err == nil && !gone {
			err = a.wait(ep.Iatomic(op, a.kind, piece, a.to, a.handle, uint32(at), windowBits, nil))
			if err != nil {
				return err
			}
		}
		if err != nil {
			return a.fail(a.call, a.rank, ErrOther, err)
		}
	}
	if a.rank != a.c.rank {
		a.t.mu.Lock()
		a.t.under.puts = true
		a.t.mu.Unlock()
	}
	return nil
}

// fetch waits for what was there before. What it can't wait for any more goes on with memory of its own.
func (a *combining) fetch(op mx.AtomicOp, kind mx.AtomicType, in, out []byte, at int) error {
	if len(in) > mx.MaxAtomic {
		return a.fetchMany(op, in, out, at)
	}
	b := operandPool.Get().(*operands)
	n := copy(b[:], in)
	err := a.wait(a.c.seat.ep.IfetchAtomic(op, kind, b[:n], a.to, a.handle, uint32(at), windowBits, nil))
	if err != nil {
		return err
	}
	copy(out, b[:])
	operandPool.Put(b)
	return nil
}

// fetchMany is fetch in several pieces.
func (a *combining) fetchMany(op mx.AtomicOp, in, out []byte, at int) error {
	b, most := append([]byte(nil), in...), mx.MaxAtomic/a.size*a.size
	var started []mx.Request
	for from := 0; from < len(b); from += most {
		piece := b[from:min(from+most, len(b))]
		r, err := a.c.seat.ep.IfetchAtomic(op, a.kind, piece, a.to, a.handle, uint32(at+from), windowBits, nil)
		if err != nil {
			ended, _ := a.drain(started, a.call, a.rank)
			a.t.leave(started[ended:])
			return a.fail(a.call, a.rank, ErrOther, err)
		}
		started = append(started, r)
	}
	ended, err := a.drain(started, a.call, a.rank)
	a.t.leave(started[ended:])
	if err == nil {
		copy(out, b)
	}
	return err
}

// wait waits for an atomic that was started, unless that was an error.
func (a *combining) wait(r mx.Request, err error) error {
	if err != nil {
		return a.fail(a.call, a.rank, ErrOther, err)
	}
	ended, err := a.window.wait(r, a.call, a.rank)
	if !ended {
		a.t.leave([]mx.Request{r})
	}
	return err
}

// leave leaves requests to a Flush.
func (t *target) leave(rest []mx.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.under.requests = append(t.under.requests, rest...)
}
