package mem

import "gomx/transport"

// arrive brings a frame to the other side of its link.
func (s *Sim) arrive(e *simEvent) {
	if e.lent != nil { // frames of a link that retains arrive in the order sent
		e.copyLent()
		e.sender.lends.pop()
	}
	apart := s.apart(e.from, e.to)
	if s.opt.Medium == Datagrams {
		if e.link = nil; !apart {
			e.link = s.landing(e.from, e.to)
		}
	} else if apart && s.opt.Medium == Safe {
		s.delayed = append(s.delayed, e)
		return
	}
	l := e.link
	switch {
	case l == nil || l.closed:
		s.lose(e)
		e.sender.frameLeft()
		s.pool.give(e)
	case l.broken && s.now > l.lostBy:
		s.lose(e) // the sender doesn't know, and fills the link up
		s.pool.give(e)
	default:
		s.history.Frames++
		s.note("frame", e.from, e.to, &e.head)
		l.inbox.push(e)
		l.beReady()
	}
}

func (s *Sim) lose(e *simEvent) {
	s.history.Lost++
	s.note("lost", e.from, e.to, &e.head)
}

// landing returns the association that a datagram belongs to, a new one if need be.
func (s *Sim) landing(from, to transport.Address) *SimLink {
	p := s.ports[to]
	if p == nil {
		return nil
	}
	l := p.to[from]
	if l == nil {
		dialled := p.dials[from]
		delete(p.dials, from)
		l = p.newLink(from, 0)
		p.to[from] = l
		s.linkUp(l, dialled)
	}
	return l
}

// beReady has the frames of a link taken soon.
func (l *SimLink) beReady() {
	if !l.ready {
		l.ready = true
		l.port.ready = append(l.port.ready, l)
	}
	l.port.pollSoon()
}

// deliver gives the owner the frames that have arrived.
func (l *SimLink) deliver() {
	s := l.port.sim
	l.endPulls()
	for l.up && !l.closed && l.inbox.len() > 0 {
		e := l.inbox.front()
		l.taking = true
		l.port.owner.Frame(l.number, &e.head, e.data)
		l.taking = false
		if l.closed {
			l.dropInbox()
			return
		}
		l.inbox.pop()
		e.sender.frameLeft()
		s.pool.give(e)
	}
	if l.up && l.ended && !l.closed {
		l.down()
	}
}

func (l *SimLink) dropInbox() {
	for l.inbox.len() > 0 {
		e := l.inbox.front()
		l.inbox.pop()
		l.port.sim.lose(e)
		e.sender.frameLeft()
		l.port.sim.pool.give(e)
	}
}

// frameLeft notes that a frame is no longer under way.
func (l *SimLink) frameLeft() {
	s := l.port.sim
	if l.out--; l.full && l.out <= s.opt.Capacity/2 {
		l.full = false
		e := s.pool.take(simWritable, 0)
		e.link = l
		s.schedule(0, e)
	}
}
