package exs

import (
	"net/netip"

	"gomx/exs/internal/life"
)

// AcceptAddr is one connection that Accept is to accept (4.3.2).
type AcceptAddr struct {
	Addr    *netip.AddrPort // where the peer's address goes, or nil
	AHandle any             // comes back in the event
}

// Accept starts to accept as many connections as vec has elements (4.3.2). Each
// ends with an event of type EvtAccept, which has the new socket and the peer's
// address. With Block vec has one element, and the new socket is returned. Errors:
// EINVAL for a socket that does not listen or another number of elements, EBADF. Accepts
// that wait when the listener is closed end with ECANCELED. While no client can connect because the process or the system
// can open no more files, one accept each second ends with EMFILE or ENFILE, and the clients wait.
func (s *Socket) Accept(vec []AcceptAddr, flags Flags, q *Queue) (*Socket, error) {
	if err := s.present("accept"); err != nil {
		return nil, err
	}
	if flags&^Block != 0 || len(vec) == 0 || flags&Block != 0 && len(vec) != 1 {
		return nil, s.wrong("accept", "vec has %d elements, and flags %#x: it needs one at least, just one with Block, and there is no other flag", len(vec), uint32(flags))
	}
	if n := s.lockFor(life.Accept); n != 0 {
		return nil, s.unfit("accept", n, isNoServer)
	}
	var first *op
	for i := range vec {
		o, n := s.begin(EvtAccept, flags, q, vec[i].AHandle)
		if n != 0 {
			s.mu.Unlock()
			return nil, s.unsuited("accept", n, flags, q, nil) // all elements have the same queue, so the first one decides
		}
		o.extra = &extra{to: vec[i].Addr}
		s.post.asked = append(s.post.asked, o)
		first = o
	}
	s.post.open = true
	s.handOut()
	s.post.admission.Broadcast()
	s.mu.Unlock()
	if flags&Block == 0 {
		return nil, nil
	}
	_, x, n := s.await(first)
	if n != 0 {
		return nil, x.failure("accept", n)
	}
	return x.socket, nil
}

// handOut completes accepts with connections, in order. The lock is held.
func (s *Socket) handOut() {
	p := s.post
	for len(p.ready) > 0 && len(p.asked) > 0 {
		n, o := p.ready[0], p.asked[0]
		p.ready, p.asked = p.ready[1:], p.asked[1:]
		o.extra.socket, o.extra.addr = n, n.remote
		if o.extra.to != nil {
			*o.extra.to = n.remote
		}
		s.finish(o, 0)
	}
}

// BlockingAccept accepts one connection (9.4).
func (s *Socket) BlockingAccept() (*Socket, netip.AddrPort, error) {
	var addr netip.AddrPort
	n, err := s.Accept([]AcceptAddr{{Addr: &addr}}, Block, nil)
	return n, addr, err
}
