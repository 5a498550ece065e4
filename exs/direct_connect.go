package exs

import (
	"context"
	"net/netip"

	"gomx/exs/internal/life"
	"gomx/mx"
)

// request is a direct connect whose reply is awaited. The reply, its timeout and the peer's failure compete to end it, under the socket's lock.
type request struct {
	s       *Socket
	j       *joining
	route   *route
	addr    netip.AddrPort // the address that was dialled
	ctx     context.Context
	unwatch func() bool // stops watching the context
	o       *op
	waits   wait
	b       [connectSize]byte
}

// awaitsReply reports whether a direct connect awaits the reply of a peer.
func (j *joining) awaitsReply(peer mx.EndpointAddr) bool {
	return j.asked != nil && j.asked.route.peer == peer
}

// ask begins a direct connect, and returns false if there is no route. The lock is held.
func (s *Socket) ask(ctx context.Context, o *op, addr netip.AddrPort) bool {
	r := s.l.routeTo(addr)
	if r == nil {
		return false
	}
	a := &request{s: s, j: s.joining, route: r, addr: addr, ctx: ctx, o: o}
	a.b[0] = ctlConnect
	(&connectRequest{s.proposal(), r.to, r.port}).encode(a.b[1:])
	ep, match := s.l.ep.Load(), kindControl<<kindShift|r.out
	if !ep.SendNow(a.b[:], r.peer, match) {
		if _, err := s.l.post(ep.Isend(a.b[:], r.peer, match, a)); err != nil {
			s.l.dropRoute(addr, r, true)
			return false
		}
	}
	a.waits.begin(toGreet)
	s.joining.asked = a
	s.l.work.Add(1)
	a.unwatch = context.AfterFunc(ctx, a.giveUp)
	return true
}

// completed is called when the request was sent, or the peer has failed.
func (a *request) completed(st *mx.Status) {
	if st.Code != mx.StatusSuccess {
		a.s.l.dropRoute(a.addr, a.route, true)
		a.giveUp()
	}
}

// giveUp ends the wait for the reply, and connects over TCP.
func (a *request) giveUp() {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	if a.j.asked == a {
		a.s.overTCP()
	}
}

// end ends the wait for the reply. The lock is held.
func (a *request) end() {
	a.j.asked = nil
	a.unwatch()
	a.s.l.work.Done()
}

// overTCP continues the connect over TCP, which also reports errors. The socket's new tag drops a reply that still arrives. The lock is held.
func (s *Socket) overTCP() {
	a := s.joining.asked
	s.l.retag(s)
	s.l.start(func() { s.join(a.ctx, a.o, netip.AddrPort{}, a.addr, a.waits) })
	a.end()
}

// replied handles the listener's reply. The lock is held.
func (s *Socket) replied(source mx.EndpointAddr, b []byte) {
	var h hello
	if s.joining == nil || !s.joining.awaitsReply(source) || h.decode(b) != nil {
		s.l.counts.nonsense.Add(1)
		return
	}
	a, ours := s.joining.asked, s.proposal()
	granted := h.accepts(&ours) == nil
	switch {
	case h.verdict == unknown:
		s.l.dropRoute(a.addr, a.route, false)
		s.overTCP()
		return
	case !granted:
		s.l.elsewhere(a.addr)
		s.overTCP()
		return
	case s.life.State() != life.Connecting || s.joining.cancelled: // the socket was closed, or it was
		s.l.reset(source, &h)
		s.overTCP()
		return
	}
	a.end()
	s.joining.stop()
	s.joining = nil
	s.agree(&h)
	s.peer = source
	s.local, s.remote = netip.AddrPortFrom(a.route.to.Addr(), a.route.port), a.addr
	s.prepare(&h)
	s.life.Connected(true)
	s.arm()
	s.l.counts.direct.Add(1)
	s.finish(a.o, 0)
}
