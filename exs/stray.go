package exs

import (
	"time"

	"gomx/mx"
)

// If the handler is given a packet just after its receive was posted, it leaves the packet to the endpoint, which will find the
// receive. If the receive is cancelled before that, the packet goes to the endpoint's store, and no receive has its number. It
// is then held in the same way as a packet that is still with its sender, of which only the length is known.
//
// A message that was left to the endpoint, on a socket of either type, may find no receive as well if the socket is closed, or ends its
// receiving, just then. Another receive is then posted, which discards it: its sender would wait for ever.

// strayTime is how long to wait for a message that was left to the endpoint, which it deals with at once.
const strayTime = time.Second

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

// handedOver notes that a receive has got a message.
func (s *Socket) handedOver(st *mx.Status) {
	if s.inHand == st.MatchInfo {
		s.inHand = 0
	}
}

// discardStray discards the message that was left to the endpoint last, if no receive has got it. The endpoint may not have dealt with
// it yet, and will find no other receive. Its sender would wait.
func (s *Socket) discardStray() {
	if s.inHand == 0 {
		return
	}
	ep := s.l.ep.Load()
	if r, err := s.l.post(ep.Irecv(nil, s.inHand, exact, nil)); err == nil {
		time.AfterFunc(strayTime, func() { _, _, _ = ep.Abandon(r) }) // an error says that it has come
	}
	s.inHand = 0
}
