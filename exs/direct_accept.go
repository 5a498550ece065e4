package exs

import (
	"maps"
	"net/netip"

	"gomx/exs/internal/life"
	"gomx/mx"
)

// allow lets the client of a connection connect directly from now on. The listener's lock is held.
func (p *post) allow(n *Socket) {
	if !sameHost(n.local, n.remote) {
		return
	}
	if p.known == nil {
		p.known, p.names = map[origin]bool{}, &names{}
	}
	p.known[origin{n.peer, n.local}] = true
	n.l.accepts.Store(true)
}

// keepProgress makes the endpoint answer direct connects though no call of the program waits in it at the moment.
func (l *Library) keepProgress() {
	if l.accepts.Load() {
		l.ep.Load().KeepProgress()
	}
}

// forget removes a peer whose endpoint is gone.
func (p *post) forget(peer mx.EndpointAddr) {
	maps.DeleteFunc(p.known, func(o origin, _ bool) bool { return o.peer == peer })
}

// answer handles a client's request for a direct connection. The lock is held.
func (s *Socket) answer(source mx.EndpointAddr, b []byte) {
	var r connectRequest
	if r.decode(b) != nil {
		s.l.counts.nonsense.Add(1)
		return
	}
	n, verdict := s.grant(source, &r)
	if n == nil {
		s.l.reply(source, &r.hello, &hello{version: Version1, typ: s.typ, verdict: verdict, credits: 1})
		return
	}
	ours := n.proposal()
	s.l.reply(source, &r.hello, &ours)
	s.post.ready = append(s.post.ready, n)
	s.handOut()
}

// grant makes the listener's side of a direct connection. It returns nil for a client that has to connect over TCP: the
// listener does not know it, another connection has its address, or it has to wait, which it does over TCP.
func (s *Socket) grant(source mx.EndpointAddr, r *connectRequest) (*Socket, verdict) {
	p := s.post
	switch {
	case s.life.State() != life.Listening || p == nil || !p.known[origin{source, r.to}]:
		return nil, unknown
	case !p.open || p.turns > 0 || p.full():
		return nil, crowded
	}
	remote := netip.AddrPortFrom(r.to.Addr(), r.port)
	if !p.names.take(remote) {
		return nil, crowded
	}
	n, refusal := s.child(&r.hello)
	if refusal != accepted {
		p.names.giveBack(remote)
		return nil, refusal
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.local, n.remote, n.namedBy = r.to, remote, p.names
	n.peer = source
	n.prepare(&r.hello)
	n.life.Connected(true)
	n.arm()
	return n, accepted
}
