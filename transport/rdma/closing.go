//go:build linux && cgo

package rdma

import (
	"time"

	"gomx/transport/rdma/internal/verbs"
)

// settleBound is how long a link that is closed may still write to memory that a pull
// was given, before its queue pair is ended by force. drainBound is how long that
// may take.
const (
	settleBound = 20 * time.Millisecond
	drainBound  = 100 * time.Millisecond
)

// Close gives everything back once the peer has got what was sent to it; until then
// the link is among port.leaving.
func (l *link) Close() {
	if l.closed {
		return
	}
	p := l.port
	l.closed = true
	p.drop(l)
	l.dropHeld()
	p.unexportAll(l)
	if l.qp == nil {
		return
	}
	p.takeNews()
	if l.broken == nil && !l.hungUp && l.work.len() > 0 {
		l.markEnd()
		for begin := time.Now(); l.work.reads > 0 && l.broken == nil && time.Since(begin) < settleBound; {
			p.fetch(1)
			p.sweep(l)
		}
		if l.work.reads == 0 && l.work.len() > 0 && l.broken == nil {
			l.leftAt = time.Now()
			p.leaving = append(p.leaving, l)
			return
		}
	}
	l.stop()
}

// markEnd adds a signaled request behind all others, so that the end of the last one is reported.
func (l *link) markEnd() {
	p := l.port
	if l.work.len() < workDepth {
		if slot, ok := p.out.Take(); ok {
			clear(p.out.Bytes(slot)[:creditsSize])
			l.work.unsignaled = signalEvery
			l.collect(slot, creditsSize)
		}
	}
	p.begin(l)
	p.post()
}

// sweep takes what was completed of l alone.
func (p *port) sweep(l *link) {
	for i := p.taken; i < len(p.done); i++ {
		c := p.done[i]
		if c.QP != l.number {
			continue
		}
		p.done[i] = verbs.Completion{} // of no queue pair
		if c.ID&receiveBit != 0 {
			p.recycle(slot(c.ID))
		} else {
			l.sent(&c)
		}
	}
}

// stop ends what the queue pair does and gives it back. From its return on nothing
// is written into memory that a pull was given. A queue pair that comes later may
// get the same number, so all completions of this one are taken before.
func (l *link) stop() {
	if l.qp == nil {
		return
	}
	p := l.port
	p.post() // sends is needed
	if l.qp.Fail() == nil {
		l.drain()
	}
	p.sweep(l)
	p.note(l.qp.Close())
	l.qp = nil
	delete(p.table, l.number)
	if p.last == l {
		p.last = nil
	}
	l.abandon()
	l.endPulls()
	p.unexportAll(l)
	p.in.release(l.granted)
	if l.conn != nil {
		p.watched.Remove(l.fd)
		_ = l.conn.Close()
	}
}

// drain waits until the queue pair, which has failed, has no requests any more: a
// last one comes back behind all others.
func (l *link) drain() {
	p := l.port
	l.abandon()
	slot, ok := p.out.Take()
	if !ok {
		return
	}
	last := l.work.tail
	p.sends.Send(uint64(last), verbs.Signaled, p.out.Piece(slot, creditsSize))
	if _, err := l.qp.Post(p.sends); err == nil {
		for begin := time.Now(); !p.drained(l, last) && time.Since(begin) < drainBound; {
		}
	}
	p.out.Give(slot)
}

// drained fetches completions and reports whether that of request last is there.
func (p *port) drained(l *link, last uint32) bool {
	p.fetch(1)
	for i := p.taken; i < len(p.done); i++ {
		if c := &p.done[i]; c.QP == l.number && c.ID&receiveBit == 0 && uint32(c.ID) == last {
			return true
		}
	}
	return false
}

// note keeps an error of something that was given back, for Diagnostics.
func (p *port) note(err error) {
	if err != nil {
		p.memory.refuse(err)
	}
}
