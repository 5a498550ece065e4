package exs

// A packet that comes to the handler just after a receive was posted for it is left to the
// endpoint, which will find that receive. If it is taken back before that, the packet lies in the
// endpoint's store, and nobody has its number. It is then held like a packet that is still with its
// sender, of which there is the length too.

// passed is the newest packet that was left to a receive.
type passed struct {
	end    uint32 // the number behind it
	length int
}

// unpostPacket takes a receive back that no packet has come for, and reports whether it could. Those
// behind it move up.
func (s *Socket) unpostPacket(o *op) bool {
	p := &s.packets
	if gone, _ := s.l.ep.Load().Cancel(o.req); !gone {
		return false
	}
	p.posted.remove(o)
	p.next--
	for i := range p.posted.len() {
		if later := p.posted.at(i); int32(later.seq-o.seq) > 0 {
			later.seq--
		}
	}
	return true
}

// holdStray holds the packet that was left to a receive which was taken back then. It can be the
// newest one only: the handler gets the next when the endpoint has dealt with that.
func (s *Socket) holdStray() {
	if p := &s.packets; p.passed.end == p.next+uint32(len(p.held))+1 {
		p.held = append(p.held, held{length: p.passed.length})
		s.moveLine()
	}
}
