package exs

import (
	"maps"
	"net/netip"

	"gomx/mx"
)

// lifeline watches a peer: when its endpoint ends, the connections to it are reset.
// There is one for each peer.
type lifeline struct {
	l    *Library
	peer mx.EndpointAddr
}

// arm makes sure that the socket is notified when its peer fails. The lock is held.
func (s *Socket) arm() {
	l, ep := s.l, s.l.ep.Load()
	if s.peer == ep.Addr() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.peers[s.peer] != nil {
		return
	}
	f := &lifeline{l, s.peer}
	if _, err := l.post(ep.Watch(s.peer, ours, f)); err == nil {
		l.peers[s.peer] = f
	}
}

// completed is called when the peer's endpoint is gone, after all messages that have arrived from it.
func (f *lifeline) completed(*mx.Status) {
	l := f.l
	l.mu.Lock()
	delete(l.peers, f.peer)
	maps.DeleteFunc(l.routes, func(_ netip.AddrPort, r *route) bool { return r.peer == f.peer })
	sockets := append([]*Socket(nil), l.sockets...)
	l.mu.Unlock()
	for _, s := range sockets {
		if s != nil {
			s.orphan(f.peer)
		}
	}
}

// orphan ends the connection if peer, which is gone, was its peer, unless both sides had closed it.
func (s *Socket) orphan(peer mx.EndpointAddr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.post != nil {
		s.post.forget(peer)
	}
	if s.joining != nil && s.joining.awaitsReply(peer) {
		s.overTCP()
	}
	if s.peer != peer || s.released || s.partedWell() {
		return
	}
	if j := s.joining; j != nil && (j.over != nil || j.made) {
		j.endSession()
		return
	}
	s.lose(ECONNRESET)
	s.settle()
}

// partedWell reports whether the peer has closed in good order.
func (s *Socket) partedWell() bool {
	if s.stream != nil {
		return s.stops && s.streamEnds()
	}
	return s.stops && s.packets.total >= 0
}
