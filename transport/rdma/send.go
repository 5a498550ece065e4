//go:build linux && cgo

package rdma

import (
	"encoding/binary"
	"fmt"
	"math"

	"gomx/transport/rdma/internal/verbs"
	"gomx/transport/wire"
)

// The bytes of a frame that wire leaves to the medium say how many credits come
// back with it. Credits that find no frame go in a message of their own, which is
// nothing but their number.
const (
	creditsAt   = 2 // in a frame
	creditsSize = 2
)

// Send posts a frame, or collects it with others. The first frame after a poll
// leaves at once. Those that follow wait for the next poll, or until there are
// enough of them: one crossing into C posts many.
func (l *link) Send(h *wire.Header, v *wire.Vec, off int) bool {
	p := l.port
	n := int(h.Length)
	if n > l.caps.MaxFrame {
		panicTooLong(h, l.caps.MaxFrame)
	}
	if l.credits == 0 || l.broken != nil || l.closed || l.work.len() >= frameDepth || p.signals >= p.maxSignals {
		return false
	}
	slot, ok := p.out.Take()
	if !ok {
		return false
	}
	l.credits--
	frame := h.Append(p.out.Bytes(slot)[:0])
	size := len(frame) + n
	if n > 0 {
		v.Gather(frame[len(frame):size], off)
	}
	binary.LittleEndian.PutUint16(frame[creditsAt:], l.takeCredits())
	first := l.turn != p.turn || l.peer < 0
	l.turn = p.turn
	l.collect(slot, size)
	if first || p.sends.Full() {
		p.post()
	} else {
		p.events.Soon()
	}
	return true
}

// collect adds a message that lies in a slot to those that are to be posted.
func (l *link) collect(slot uint32, size int) {
	p := l.port
	p.begin(l)
	i := item{kind: slotItem, slot: slot}
	var f verbs.Flags
	if size <= l.qp.MaxInline() {
		i.kind, f = inlineItem, verbs.Inline
		p.inlined = append(p.inlined, slot)
	}
	f = l.signal(&i, f)
	p.sends.Send(uint64(l.work.add(i)), f, p.out.Piece(slot, size))
}

// takeCredits takes the credits to return to the peer. The caller sends them at once.
func (l *link) takeCredits() uint16 {
	n := min(l.toReturn, math.MaxUint16)
	l.toReturn -= n
	return uint16(n)
}

// countCredit counts a message of the peer that was consumed, whose credit is to be returned.
func (l *link) countCredit() {
	l.toReturn++
	if !l.returning && l.returnsDue() {
		l.returning = true
		l.port.returning = append(l.port.returning, l)
	}
}

// returnsDue reports whether the peer may soon have no credits left.
func (l *link) returnsDue() bool { return l.toReturn >= max(1, l.granted/2) }

// returnCredits sends messages of their own with the credits of peers that have few
// left and have been sent no frame that could carry them.
func (p *port) returnCredits() {
	left := p.returning[:0]
	for _, l := range p.returning {
		if l.closed || l.broken != nil || !l.returnsDue() {
			l.returning = false
			continue
		}
		slot, ok := p.out.Take()
		if !ok || l.work.len() >= workDepth-readsAtOnce {
			if ok {
				p.out.Give(slot)
			}
			left = append(left, l)
			continue
		}
		l.returning = false
		binary.LittleEndian.PutUint16(p.out.Bytes(slot), l.takeCredits())
		l.collect(slot, creditsSize)
		p.post()
	}
	clear(p.returning[len(left):])
	p.returning = left
}

func panicTooLong(h *wire.Header, most int) {
	panic(fmt.Sprintf("rdma: %v frame of %d bytes, at most %d are allowed", h.Kind, h.Length, most))
}
