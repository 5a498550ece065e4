package exs

import (
	"gomx/exs/internal/life"
	"gomx/exs/internal/pool"
)

// In-place receiving (section 5.2 of the first paper). There are as many places as the peer
// has credits, and each has the size of the largest small packet. A receive in place is not
// posted at the endpoint: its packet comes to the handler of unexpected messages, which
// copies it out of the medium into a place. So the packet is copied once, as it would be into
// the buffer of a posted receive. A packet that comes before its receive is copied into a
// place as well, and is not copied again.

// RecycleRcvBuffer returns the place of a packet that was received with InPlace to the library. b is the Buffer of the event, or
// a slice that begins there; the program must not use it afterwards. The peer can't send while the program keeps as many
// places as there are credits. Errors: EINVAL if b is not such a place, or was returned before; EBADF.
func (s *Socket) RecycleRcvBuffer(b []byte) error {
	if n := s.lockFor(life.Look); n != 0 {
		return s.fail("recycle receive buffer", n)
	}
	defer s.mu.Unlock()
	if s.special == nil || s.special.pool == nil || !s.special.pool.Back(b) {
		return s.naming(wrong("recycle receive buffer", "this is no place that a receive with InPlace has got, or it was given back before"))
	}
	s.took()
	s.settle()
	return nil
}

// places makes the pool of places if needed, and reports whether there is one.
func (s *Socket) places() bool {
	if x := s.special; x.pool == nil && s.options.small > 0 {
		x.pool = pool.New(s.options.small, int(s.packets.window))
	}
	return s.special.pool != nil
}

// tellTaken tells the peer how many packets were taken, before it has to wait.
func (s *Socket) tellTaken() {
	p := &s.packets
	lent := uint32(0)
	if s.special != nil && s.special.pool != nil {
		lent = uint32(s.special.pool.Lent())
	}
	if s.fate == 0 && pool.Due(p.taken-p.returned, lent, p.window) {
		p.returned = p.taken
		s.sendNumber(ctlAck, p.taken)
	}
}

// keep copies a packet for which no receive waits.
func (x *special) keep(data []byte) []byte {
	b := x.place(len(data))
	copy(b, data)
	return b
}

// place returns memory for a packet of n bytes, in the pool if it may lie there.
func (x *special) place(n int) []byte {
	if x != nil && x.pool != nil && n <= x.pool.Size() {
		if b := x.pool.Take(); b != nil {
			return b[:n]
		}
	}
	return make([]byte, n)
}

// settles moves a small packet into a place if it arrived before there were places. It reports whether the packet is in a place.
func (x *special) settles(h *held) bool {
	if !x.pool.Holds(h.data) {
		h.data = x.keep(h.data)
	}
	return x.pool.Holds(h.data)
}

// drop frees the place of a packet whose data was copied from it.
func (x *special) drop(data []byte) {
	if x != nil && x.pool != nil {
		x.pool.Drop(data)
	}
}

// inPlaceHere completes the first receive in line with a packet that has just arrived, if that receive is in place.
func (s *Socket) inPlaceHere(data []byte) bool {
	x := s.special
	p := &s.packets
	if p.line.len() == 0 || p.line.at(0).flags&InPlace == 0 || len(p.held)+p.posted.len() > 0 || len(data) > x.pool.Size() {
		return false
	}
	b := x.pool.Take()
	if b == nil {
		s.tear(ECONNRESET) // the peer has sent more than its credits allow
		return true
	}
	o := p.line.pop()
	o.seq = p.next
	p.next++
	s.lend(o, b[:copy(b, data)])
	return true
}

// lend completes a receive in place with a packet.
func (s *Socket) lend(o *op, b []byte) {
	s.special.pool.Lend(b)
	o.buf, o.length, o.inPlace = b, len(b), true
	s.tellTaken()
	s.finish(o, 0)
}

// takeInPlace handles the packet that has arrived for the first in line, a receive in place. It reports whether the receive has left
// the line: because it has ended, or because its packet does not fit a place and it is treated as any other receive.
func (s *Socket) takeInPlace(o *op) bool {
	x, p := s.special, &s.packets
	switch {
	case s.nothingComes():
	case len(p.held) == 0 || p.held[0].coming:
		return false
	case p.held[0].data == nil && p.held[0].length <= x.pool.Size():
		s.fetchHeld()
		return false
	case p.held[0].length <= x.pool.Size() && x.settles(&p.held[0]):
		p.line.pop()
		o.seq = p.next
		p.next++
		h := s.unhold()
		s.lend(o, h.data)
		return true
	}
	p.line.pop()
	o.flags &^= InPlace
	s.receiveNow(o)
	return true
}
