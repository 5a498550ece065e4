package exs

// If the handler is given a packet just after its receive was posted, it leaves the packet to the endpoint, which will find the
// receive. If the receive is cancelled before that, the packet goes to the endpoint's store, and no receive has its number. It
// is then held in the same way as a packet that is still with its sender, of which only the length is known.

// passed is the newest packet that was left to a receive.
type passed struct {
	end    uint32 // the number of the packet after it
	length int
}

// unpostPacket cancels a receive for which no packet has arrived, and reports whether that was possible. The receives behind it move
// up.
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

// holdStray holds a packet that was left to a receive which was then cancelled. It can only be the newest packet, because the handler
// is given the next packet after the endpoint has dealt with that one.
func (s *Socket) holdStray() {
	if p := &s.packets; p.passed.end == p.next+uint32(len(p.held))+1 {
		p.held = append(p.held, held{length: p.passed.length})
		s.moveLine()
	}
}
