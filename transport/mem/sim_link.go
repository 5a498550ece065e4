package mem

import (
	"time"

	"gomx/transport"
	"gomx/transport/wire"
)

// SimLink is one side of a simulated link. It implements wire.Link.
type SimLink struct {
	port    *SimPort
	caps    *wire.Caps
	id      uint64   // no other side of a link has it
	far     *SimLink // nil if the medium is datagrams
	address transport.Address
	session uint32
	number  int32
	place   int // in port.links

	up     bool // the owner knows it
	closed bool // by the owner, or the owner knows of its end
	broken bool // it is cut, or its other side has crashed

	// The way out.
	free  time.Duration // when all that was sent will have left
	last  time.Duration // when the last of it arrives, on media that keep the order
	out   int           // frames that are under way
	full  bool          // Send has said "again"
	lends simFifo       // frames whose payload is still in the sender's memory

	// The way in.
	inbox  simFifo
	ready  bool
	lostBy time.Duration // broken: frames that arrive later than this are lost
	taking bool          // the owner looks at the first frame
	ended  bool          // the other side has closed, and all its frames are here

	exported exports
	pulls    []*simPull // under way
	pulled   []*simPull // of them, those whose end the owner is to be told of
}

var _ wire.Link = (*SimLink)(nil)

// Peer returns the address of the other side and, of links that begin with a
// handshake, its session.
func (l *SimLink) Peer() (transport.Address, uint32) { return l.address, l.session }

// Bind says under which number the owner knows the peer.
func (l *SimLink) Bind(peer int32) { l.number = peer }

// Number returns what Bind was given.
func (l *SimLink) Number() int32 { return l.number }

// Caps implements wire.Link.
func (l *SimLink) Caps() *wire.Caps { return l.caps }

// Send implements wire.Link.
func (l *SimLink) Send(h *wire.Header, v *wire.Vec, off int) bool {
	s := l.port.sim
	if int(h.Length) > l.caps.MaxFrame {
		panic("mem: a frame exceeds the link's largest")
	}
	if s.opt.Capacity > 0 && l.out >= s.opt.Capacity {
		l.full = true
		s.history.Again++
		return false
	}
	copies := s.copies()
	e := s.frame(h, v, off)
	e.from, e.to = l.port.self, l.address
	if s.opt.Tamper != nil {
		copies = s.opt.Tamper(&e.head, e.data)
	}
	if copies == 0 {
		s.history.Lost++
		s.note("lost", e.from, e.to, &e.head)
		s.pool.give(e)
		return true
	}
	if e.lent != nil {
		l.lends.push(e)
	}
	for ; copies > 1; copies-- {
		twin := s.pool.take(simArrival, len(e.data))
		twin.head, twin.from, twin.to = e.head, e.from, e.to
		copy(twin.data, e.data)
		s.history.Twice++
		l.launch(twin)
	}
	l.launch(e)
	return true
}

// frame makes a frame that has not left. A link that retains copies the payload
// of pull data only when it arrives, so that an engine which gives memory back too
// early is found out.
func (s *Sim) frame(h *wire.Header, v *wire.Vec, off int) *simEvent {
	e := s.pool.take(simArrival, int(h.Length))
	e.head = *h
	e.head.DropAbsent()
	n := int(h.Length)
	switch {
	case n == 0:
	case s.caps.Retains && h.Kind == wire.PullData && off+n <= len(v.First) && s.opt.Tamper == nil:
		e.lent = v.First[off : off+n]
	case v.Gather(e.data, off) != n:
		panic("mem: a frame is longer than its payload")
	}
	return e
}

// launch sends a frame on its way.
func (l *SimLink) launch(e *simEvent) {
	s := l.port.sim
	l.out++
	e.sender, e.link = l, l.far
	leaves := s.now
	if s.opt.Bandwidth > 0 {
		bytes := time.Duration(wire.MaxHeader + len(e.data))
		leaves = max(l.free, s.now) + bytes*time.Microsecond/time.Duration(s.opt.Bandwidth)
		l.free = leaves
	}
	at := leaves + s.opt.Latency(s.rng)
	if s.caps.Ordered {
		at = max(at, l.last)
		l.last = at
	}
	s.queue.push(at, e)
}

// copyLent copies a payload that is still in the sender's memory.
func (e *simEvent) copyLent() {
	if e.lent != nil {
		copy(e.data, e.lent)
		e.lent = nil
	}
}

// Reclaim implements wire.Link.
func (l *SimLink) Reclaim() {
	for l.lends.len() > 0 {
		l.lends.front().copyLent()
		l.lends.pop()
	}
}
