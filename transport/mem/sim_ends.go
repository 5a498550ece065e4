package mem

import "gomx/transport"

// Dial asks for a link. The owner's LinkUp or DialFailed answers, later. Over
// datagrams there is always an association to be had, whether or not there is
// anybody at the other end.
func (p *SimPort) Dial(peer transport.Address) {
	s := p.sim
	s.history.Dials++
	s.note("dial", p.self, peer, nil)
	if s.opt.Medium == Datagrams {
		p.dials[peer] = true
	}
	e := s.pool.take(simSyn, 0)
	e.port, e.to = p, peer
	s.schedule(s.opt.Latency(s.rng), e)
}

// answer decides what becomes of a dial.
func (s *Sim) answer(e *simEvent) {
	p, q := e.port, s.ports[e.to]
	switch {
	case p.closed:
	case s.opt.Medium == Datagrams:
		if p.dials[e.to] {
			delete(p.dials, e.to)
			l := p.newLink(e.to, 0)
			p.to[e.to] = l
			s.linkUp(l, true)
		}
	case s.apart(p.self, e.to):
		s.refuse(p, e.to, transport.ErrNoRoute, s.opt.Notice)
	case q == nil || q == p:
		s.refuse(p, e.to, transport.ErrNoPeer, s.opt.Latency)
	default:
		near, far := p.newLink(q.self, q.session), q.newLink(p.self, p.session)
		near.far, far.far = far, near
		if s.opt.Fallback > 0 && s.opt.Medium == Healing && s.rng.Float64() < s.opt.Fallback {
			near.caps, far.caps = &s.other, &s.other
		}
		s.announce(far, false)
		s.announce(near, true)
	}
}

func (s *Sim) refuse(p *SimPort, peer transport.Address, err error, after Latency) {
	e := s.pool.take(simDialFailed, 0)
	e.port, e.to, e.err = p, peer, err
	s.schedule(after(s.rng), e)
}

// announce tells one side of a new link, in its own time.
func (s *Sim) announce(l *SimLink, dialled bool) {
	e := s.pool.take(simUp, 0)
	e.link, e.dialled = l, dialled
	after := s.opt.Greeting(s.rng)
	if dialled {
		after += s.opt.Latency(s.rng)
	}
	s.schedule(after, e)
}

func (p *SimPort) newLink(peer transport.Address, session uint32) *SimLink {
	p.sim.ends++
	l := &SimLink{port: p, caps: &p.sim.caps, id: p.sim.ends, address: peer, session: session, place: len(p.links)}
	p.links = append(p.links, l)
	return l
}

func (s *Sim) linkUp(l *SimLink, dialled bool) {
	if l.closed || l.port.closed {
		return
	}
	s.note("up", l.port.self, l.address, nil)
	l.up = true
	l.port.owner.LinkUp(l, dialled)
	if !l.closed && (l.ended || l.inbox.len() > 0) {
		l.beReady()
	}
}

// Close ends the link from this side. At the other side the link goes down behind what
// was sent before, but not over datagrams, where nothing is reported. What has
// arrived and was not taken is lost.
func (l *SimLink) Close() { l.leave() }

func (l *SimLink) leave() {
	if l.closed {
		return
	}
	s := l.port.sim
	s.note("close", l.port.self, l.address, nil)
	l.Reclaim()
	l.closed = true
	l.forgetPulls()
	l.exported.clear()
	l.port.forget(l)
	if !l.taking {
		l.dropInbox()
	}
	if l.far == nil || l.far.closed || l.broken {
		return
	}
	e := s.pool.take(simEnd, 0)
	e.link, e.from, e.to = l.far, l.port.self, l.address
	l.last = max(s.now+s.opt.Latency(s.rng), l.last)
	s.queue.push(l.last, e)
}

// end has one side learn that its link has ended.
func (s *Sim) end(e *simEvent) {
	if !e.cut && s.opt.Medium == Safe && s.apart(e.from, e.to) {
		s.delayed = append(s.delayed, e)
		return
	}
	l := e.link
	if !l.closed && !l.port.closed {
		if e.cut {
			l.lostBy = -1 // what is still to come is lost as well, or there would be a gap
			l.dropInbox()
			l.pulled = nil
		}
		l.ended = true
		if l.up {
			l.beReady()
		}
	}
	s.pool.give(e)
}

// down tells the owner that a link is dead.
func (l *SimLink) down() {
	l.port.sim.note("down", l.port.self, l.address, nil)
	l.closed = true
	l.Reclaim()
	l.forgetPulls()
	l.port.forget(l)
	l.port.owner.LinkDown(l)
	l.exported.clear()
}

// Cut cuts the links between two addresses, if there are any and the medium lets
// it happen. New ones can be dialled at once.
func (s *Sim) Cut(a, b transport.Address) (cut bool) {
	p := s.ports[a]
	if p == nil || s.opt.Medium != Healing {
		return false
	}
	for _, l := range p.links {
		if l.address == b && !l.broken {
			l.cut()
			cut = true
		}
	}
	return cut
}

// cut loses what is under way from some moment on, which is another one in each
// direction, and has both sides notice it in their own time.
func (l *SimLink) cut() {
	s := l.port.sim
	s.history.Cuts++
	s.note("cut", l.port.self, l.address, nil)
	for _, side := range [...]*SimLink{l, l.far} {
		if side.broken {
			continue
		}
		side.broken = true
		side.lostBy = s.now + s.opt.Latency(s.rng)
		if side.closed {
			continue
		}
		e := s.pool.take(simEnd, 0)
		e.link, e.cut, e.from, e.to = side, true, side.address, side.port.self
		s.schedule(s.opt.Notice(s.rng), e)
	}
}

// Partition splits the addresses into groups that don't reach each other, until it
// is called again. nil joins them all.
func (s *Sim) Partition(group func(transport.Address) int) {
	s.group = group
	s.note("partition", transport.Address{}, transport.Address{}, nil)
	if s.opt.Medium == Healing && group != nil {
		for _, p := range s.open {
			for _, l := range p.links {
				if !l.broken && s.apart(p.self, l.address) {
					l.cut()
				}
			}
		}
	}
	delayed := s.delayed
	s.delayed = nil
	for _, e := range delayed {
		s.happen(e) // those that are still apart are put back
	}
}

func (s *Sim) apart(a, b transport.Address) bool {
	return s.group != nil && s.group(a) != s.group(b)
}
