package exs

import "gomx/mx"

// servePeeks shows the first packet that no receive has to those who want to look.
func (s *Socket) servePeeks() {
	p := &s.packets
	for p.peeking.len() > 0 {
		switch {
		case len(p.held) > 0 && p.held[0].data != nil && !p.held[0].coming:
			o := p.peeking.pop()
			o.length = scatter(o, p.held[0].data)
			o.lost = p.held[0].length - o.length
			s.finish(o, 0)
		case len(p.held) > 0:
			s.fetchHeld()
			return
		case s.life.AtEnd() || s.dry():
			s.finish(p.peeking.pop(), s.endOfPackets())
		default:
			return
		}
	}
}

// fetch is a packet on its way from its sender, or from the endpoint's store, to where it can be
// looked at, or be in place.
type fetch struct{ s *Socket }

// fetchHeld gets a packet that is still with its sender.
func (s *Socket) fetchHeld() {
	h := &s.packets.held[0]
	if h.coming {
		return
	}
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
	if p := &s.packets; len(p.held) > 0 && p.held[0].coming {
		p.held[0].coming = false
		if st.Code != mx.StatusSuccess {
			s.tear(statusErrno(st.Code))
		}
		s.servePeeks()
		for p.early.len() > 0 {
			s.receivePacket(p.early.pop())
		}
	}
	s.settle()
}
