package exs

import "gomx/mx"

// Receives and looks get packets in the order in which they were started. A look is a receive with Peek: it shows the packet
// that the next receive gets. So receives behind a look that waits are not posted at the endpoint, where they would get that
// packet: they are queued in line. Receives in place are always queued in line, since their packets come to the handler of
// unexpected messages, and so are all receives behind them. So is a receive whose packet is here before those of earlier receives
// are in full: its event comes behind theirs.

// receivePacket starts a receive or a look, or queues it in line behind others.
func (s *Socket) receivePacket(o *op) {
	p := &s.packets
	if p.line.len() == 0 && o.flags&(Peek|InPlace) == 0 && !s.isAhead() {
		s.receiveNow(o)
		return
	}
	p.line.push(o)
	s.moveLine()
}

// isAhead reports whether the next packet is being fetched for a look, or is here in full while receives before it have not ended.
func (s *Socket) isAhead() bool {
	p := &s.packets
	return len(p.held) > 0 && (p.held[0].coming || p.held[0].data != nil && p.posted.len() > 0)
}

// moveLine completes or posts the receives in line for which that is possible, one after the other.
func (s *Socket) moveLine() {
	for p := &s.packets; p.line.len() > 0; {
		o := p.line.at(0)
		switch looks := o.flags&(Peek|InPlace) != 0; {
		case p.posted.len() > 0 && (looks && len(p.held) > 0 || s.nothingComes()): // a packet is here, or the end, but others end before
			return
		case o.flags&Peek != 0:
			if !s.show(o) {
				return
			}
		case o.flags&InPlace != 0:
			if !s.takeInPlace(o) {
				return
			}
		case s.isAhead():
			return
		default:
			p.line.pop()
			s.receiveNow(o)
		}
	}
}

// firstInLine returns the first receive in line that is not a look, or nil.
func (s *Socket) firstInLine() *op {
	l := &s.packets.line
	for i := range l.len() {
		if o := l.at(i); o.flags&Peek == 0 {
			return o
		}
	}
	return nil
}

// show completes the first in line, a look, with the first packet that no receive has taken, and reports whether it did.
func (s *Socket) show(o *op) bool {
	p := &s.packets
	switch {
	case len(p.held) > 0 && p.held[0].data == nil:
		s.fetchHeld()
		return false
	case len(p.held) > 0 && p.held[0].coming:
		return false
	case len(p.held) > 0:
		p.line.pop()
		o.length = scatter(o, p.held[0].data)
		o.lost = p.held[0].length - o.length
		s.finish(o, 0)
	case s.nothingComes():
		p.line.pop()
		s.finish(o, s.endOfPackets())
	default:
		return false
	}
	return true
}

// fetch is the transfer of a packet from its sender, or from the endpoint's store, to memory where a look can show it, or to a place.
type fetch struct{ s *Socket }

// fetchHeld gets a packet that is still with its sender.
func (s *Socket) fetchHeld() {
	h := &s.packets.held[0]
	h.coming, h.data = true, s.special.place(h.length)
	match := kindPacket<<kindShift | toward(s.conn, s.tag)
	if _, err := s.l.post(s.l.ep.Load().Irecv(h.data, match, forSocket, &fetch{s})); err != nil {
		s.tear(ENETDOWN)
	}
}

// completed takes the packet that was fetched.
func (f *fetch) completed(st *mx.Status) {
	s := f.s
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handedOver(st)
	if p := &s.packets; len(p.held) > 0 && p.held[0].coming {
		p.held[0].coming = false
		if st.Code != mx.StatusSuccess {
			s.tear(statusErrno(st.Code))
		}
	}
	s.settle()
}
