package mem

import (
	"fmt"
	"slices"
	"time"

	"gomx/transport"
	"gomx/transport/wire"
)

// SimOwner is the endpoint that a simulated port belongs to. It may send, dial,
// close links and start timers from within each of its methods.
type SimOwner interface {
	// Frame takes a frame of the peer that the link is bound to. The payload is
	// valid until Frame returns.
	Frame(peer int32, h *wire.Header, payload []byte)
	// PullFinished ends a pull that was answered with wire.PullStarted, unless its
	// link ends before.
	PullFinished(id uint64, ok bool)
	// Polled comes after the frames and pulls of one poll.
	Polled()

	// LinkUp brings a link that was dialled or, without dialled, accepted. The
	// owner must bind it before LinkUp returns, or close it.
	LinkUp(l *SimLink, dialled bool)
	// LinkDown is the last that is heard of a link which the owner has not closed.
	LinkDown(l *SimLink)
	// DialFailed answers a dial with transport.ErrNoPeer or transport.ErrNoRoute.
	DialFailed(peer transport.Address, err error)

	// Writable: a link that said "again" takes frames now.
	Writable()
	// Timer is a timer that the owner has started.
	Timer(arg uint64)
}

// SimPort is an endpoint's presence on a simulated network.
type SimPort struct {
	sim     *Sim
	self    transport.Address
	session uint32
	owner   SimOwner
	closed  bool

	links []*SimLink
	to    map[transport.Address]*SimLink // datagrams: the associations
	dials map[transport.Address]bool     // datagrams: not answered yet

	every   time.Duration // how long arrived frames wait for a poll
	polling bool          // a poll is due
	ready   []*SimLink    // links with frames to be taken
	spare   []*SimLink
}

// Open puts an endpoint on the network. The error is transport.ErrBusy if the
// address is taken.
func (s *Sim) Open(self transport.Address, session uint32, owner SimOwner) (*SimPort, error) {
	if s.ports[self] != nil {
		return nil, fmt.Errorf("mem: open %v: %w", self, transport.ErrBusy)
	}
	p := &SimPort{sim: s, self: self, session: session, owner: owner}
	if s.opt.Medium == Datagrams {
		p.to, p.dials = map[transport.Address]*SimLink{}, map[transport.Address]bool{}
	}
	s.ports[self] = p
	s.open = append(s.open, p)
	s.note("open", self, self, nil)
	return p, nil
}

// SetPoll says how long the owner takes to look for frames that have arrived.
func (p *SimPort) SetPoll(every time.Duration) { p.every = every }

// StartTimer has Timer called with arg after so long.
func (p *SimPort) StartTimer(after time.Duration, arg uint64) {
	e := p.sim.pool.take(simTimer, 0)
	e.port, e.arg = p, arg
	p.sim.schedule(after, e)
}

// Close ends the port as a program does that says goodbye: peers get what was sent
// before, and then their links go down. Over datagrams nothing is reported to them.
func (p *SimPort) Close() { p.shut(false) }

// Crash ends the port as if its host had lost power: what is under way to its
// peers is lost, and they notice it in their own time.
func (p *SimPort) Crash() { p.shut(true) }

func (p *SimPort) shut(crash bool) {
	s := p.sim
	s.note("shut", p.self, p.self, nil)
	delete(s.ports, p.self)
	s.open = slices.DeleteFunc(s.open, func(q *SimPort) bool { return q == p })
	p.closed = true
	links := p.links
	p.links, p.ready = nil, nil
	for _, l := range links {
		if crash && s.opt.Medium == Healing && !l.broken {
			l.cut()
		}
		l.leave()
	}
}

// Poll gives the owner the frames that have arrived.
func (p *SimPort) Poll() {
	if p.closed {
		return
	}
	ready := p.ready
	p.ready = p.spare[:0]
	for _, l := range ready {
		l.ready = false
		l.deliver()
		if p.closed {
			return
		}
	}
	clear(ready)
	p.spare = ready[:0]
	p.owner.Polled()
}

// pollSoon has the port polled within the time that its owner takes.
func (p *SimPort) pollSoon() {
	if p.polling {
		return
	}
	p.polling = true
	e := p.sim.pool.take(simPoll, 0)
	e.port = p
	p.sim.schedule(p.every, e)
}

func (p *SimPort) forget(l *SimLink) {
	if p.to != nil && p.to[l.address] == l {
		delete(p.to, l.address)
	}
	last := len(p.links) - 1
	if l.place > last || p.links[l.place] != l {
		return
	}
	p.links[l.place] = p.links[last]
	p.links[l.place].place = l.place
	p.links[last] = nil
	p.links = p.links[:last]
}

// Exported returns how much memory the owner exports over its links, in pieces.
func (p *SimPort) Exported() (pieces int) {
	for _, l := range p.links {
		pieces += l.exported.count()
	}
	return pieces
}
