package mem

import (
	"slices"
	"time"

	"gomx/transport/wire"
)

// simPull is a pull under way. The memory is read twice, and both times written into
// place: when the request has come to its side, and when the bytes have come to the
// other. An engine that gives memory back in between, on either side, is found out.
type simPull struct {
	id    uint64
	into  wire.Vec
	token uint64
	n     int
	fails bool
	ok    bool
	over  bool // its link is gone
}

// Export implements wire.Link.
func (l *SimLink) Export(dst []byte, v *wire.Vec) ([]byte, uint64) {
	l.mustPull()
	return l.exported.appendDescriptor(dst, l.id, v)
}

// Unexport implements wire.Link.
func (l *SimLink) Unexport(token uint64, _ bool) { l.exported.remove(token) }

// Pull implements wire.Link.
func (l *SimLink) Pull(desc []byte, v *wire.Vec, n int, id uint64) wire.PullResult {
	l.mustPull()
	s := l.port.sim
	token, ok := tokenIn(desc, l.far.id)
	fails := s.rng.Float64() < s.opt.PullFails
	if !ok || fails && s.rng.IntN(2) == 0 {
		s.history.Failed++
		return wire.PullFailed
	}
	p := &simPull{id: id, into: *v, token: token, n: n, fails: fails}
	l.pulls = append(l.pulls, p)
	s.pulls++
	s.note("pull", l.port.self, l.address, nil)
	e := s.pool.take(simRead, 0)
	e.link, e.pull, e.from, e.to = l, p, l.port.self, l.address
	s.schedule(s.opt.Latency(s.rng), e)
	return wire.PullStarted
}

func (l *SimLink) mustPull() {
	if !l.caps.Pull {
		panic("mem: the link has no Pull")
	}
}

// movePull brings a pull on its way. Where its link is cut, nothing comes of it.
func (s *Sim) movePull(e *simEvent) {
	l, p := e.link, e.pull
	if s.opt.Medium == Safe && s.apart(e.from, e.to) {
		s.delayed = append(s.delayed, e)
		return
	}
	if p.over || l.broken && s.now > l.lostBy {
		s.pool.give(e)
		return
	}
	n := p.n
	if p.fails {
		n /= 2
	}
	p.ok = l.far.exported.copyTo(&p.into, p.token, n) && !p.fails
	if e.kind == simRead {
		e.kind = simPulled
		after := s.opt.Latency(s.rng)
		if s.opt.Bandwidth > 0 {
			after += time.Duration(p.n) * time.Microsecond / time.Duration(s.opt.Bandwidth)
		}
		s.schedule(after, e)
		return
	}
	l.pulled = append(l.pulled, p)
	l.beReady()
	s.pool.give(e)
}

// endPulls tells the owner of the pulls that have ended.
func (l *SimLink) endPulls() {
	s := l.port.sim
	for l.up && !l.closed && len(l.pulled) > 0 {
		p := l.pulled[0]
		l.pulled = l.pulled[1:]
		l.pulls = slices.DeleteFunc(l.pulls, func(q *simPull) bool { return q == p })
		s.pulls--
		if p.ok {
			s.history.Pulls++
			s.note("pulled", l.port.self, l.address, nil)
		} else {
			s.history.Failed++
			s.note("not pulled", l.port.self, l.address, nil)
		}
		l.port.owner.PullFinished(p.id, p.ok)
	}
}

// forgetPulls ends those under way. Nothing is reported to the owner.
func (l *SimLink) forgetPulls() {
	for _, p := range l.pulls {
		p.over = true
	}
	l.port.sim.pulls -= len(l.pulls)
	l.pulls, l.pulled = nil, nil
}
