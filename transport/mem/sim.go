package mem

import (
	"fmt"
	"math/rand/v2"
	"time"

	"gomx/transport"
	"gomx/transport/wire"
)

// SimMedium is what a simulated network promises.
type SimMedium uint8

// The kinds of simulated networks.
const (
	// Datagrams are lost, doubled and reordered. A link is an association with an
	// address: the end of a peer is not reported, and frames reach whoever
	// sits at the address when they arrive.
	Datagrams SimMedium = iota
	// Safe links are ordered and reliable. They only end with one of their
	// endpoints, and a partition holds back what is sent across it.
	Safe
	// Healing links are ordered and reliable until they are cut. A partition cuts
	// all that lead across it. What was under way is lost, and each side learns of
	// the cut at a time of its own.
	Healing
)

var simMedia = [...]string{Datagrams: "datagrams", Safe: "safe", Healing: "healing"}

// String returns the medium's name in tables and traces.
func (m SimMedium) String() string { return simMedia[m] }

// SimOptions of a simulated network. Chances are between 0 and 1.
type SimOptions struct {
	Seed   uint64
	Medium SimMedium

	MaxFrame  int // largest payload of a frame, bytes; 0 is DefaultMaxFrame
	Eager     int // suggested eager limit, bytes; 0 is DefaultEager or MaxFrame
	PullFrame int // see wire.Caps
	Retains   bool

	// Pulls gives links Pull, but for datagrams. It takes the way there and back, and
	// its end is reported when the port is polled.
	Pulls     bool
	PullFails float64 // chance of a pull to fail, at once or in the end

	// Fallback is the chance of a new link, if links heal, to be of another medium:
	// it has no Pull, and FallbackFrame for its largest payload.
	Fallback      float64
	FallbackFrame int // bytes; 0 is MaxFrame

	Latency   Latency // of frames; nil is none
	Loss      float64 // chance of a datagram to be lost
	Duplicate float64 // chance of a datagram to arrive twice
	Bandwidth int     // bytes per microsecond of each direction of a link; 0 is no limit
	Capacity  int     // frames under way in a direction before Send says "again"; 0 is no limit

	Greeting Latency // what a side takes to learn of a new link, beside the way there
	Notice   Latency // what it takes to notice that a link is cut, or an address out of reach

	// Observe, if set, is called with everything that happens, in order.
	Observe func(e *SimEvent)

	// Tamper, if set, is shown every frame before it leaves, may change it, and
	// returns how often it arrives: 1 if all is to be right. It is for tests that
	// want to see a fault found.
	Tamper func(h *wire.Header, payload []byte) (copies int)
}

// Sim is a network in virtual time, for one goroutine. It holds no lock and
// reads no clock: events happen in the order of their times, those of one time in
// the order in which they were caused, and all that is left to chance is decided
// by the seed. The owners of its ports are called from Step and Partition and from
// nowhere else.
type Sim struct {
	opt   SimOptions
	caps  wire.Caps
	other wire.Caps // of links that Fallback makes
	rng   *rand.Rand
	now   time.Duration
	queue simQueue
	pool  simPool

	open    []*SimPort // in the order in which they were opened
	ports   map[transport.Address]*SimPort
	group   func(transport.Address) int
	delayed []*simEvent // what a partition holds back

	ends    uint64 // of links, made so far
	pulls   int    // under way
	history SimHistory
}

// SimHistory says what has happened on a network so far.
type SimHistory struct {
	Hash   uint64 // of every event; equal histories have equal hashes
	Events uint64
	Frames uint64 // that arrived
	Lost   uint64
	Twice  uint64
	Again  uint64 // times that Send said "again"
	Cuts   uint64 // links
	Dials  uint64
	Pulls  uint64 // that brought all bytes
	Failed uint64 // pulls that did not
}

// NewSim makes a network with nobody on it, at time 0. It panics if an option is
// out of range.
func NewSim(o SimOptions) *Sim {
	if o.MaxFrame == 0 {
		o.MaxFrame = DefaultMaxFrame
	}
	if o.Eager == 0 {
		o.Eager = min(DefaultEager, o.MaxFrame)
	}
	if o.FallbackFrame == 0 {
		o.FallbackFrame = o.MaxFrame
	}
	faults := Faults{Drop: o.Loss, Duplicate: o.Duplicate}
	chances := Faults{Drop: o.PullFails, Duplicate: o.Fallback}
	if !faults.valid() || !chances.valid() || o.FallbackFrame < 0 || o.MaxFrame < 0 || o.Eager < 0 || o.Eager > o.MaxFrame || o.Bandwidth < 0 || o.Capacity < 0 || o.Medium > Healing {
		panic(fmt.Sprintf("mem: bad options %+v", o))
	}
	for _, l := range []*Latency{&o.Latency, &o.Greeting, &o.Notice} {
		if *l == nil {
			*l = Fixed(0)
		}
	}
	s := &Sim{opt: o, rng: rand.New(rand.NewPCG(o.Seed, 0x6d78)), ports: map[transport.Address]*SimPort{}}
	streams := o.Medium != Datagrams
	s.caps = wire.Caps{
		Name: o.Medium.String(), MaxFrame: o.MaxFrame, Eager: o.Eager, PullFrame: o.PullFrame,
		Ordered: streams, Reliable: streams, Heals: o.Medium == Healing, Retains: o.Retains,
		Pull: streams && o.Pulls,
	}
	s.other = s.caps
	s.other.Name, s.other.Pull = "fallback", false
	s.other.MaxFrame, s.other.Eager = o.FallbackFrame, min(o.Eager, o.FallbackFrame)
	s.history.Hash = simHashStart
	return s
}

// Now returns the time since the network was made.
func (s *Sim) Now() time.Duration { return s.now }

// History returns what has happened so far.
func (s *Sim) History() SimHistory { return s.history }

// Caps returns what all links of the network can do that Fallback has not made.
func (s *Sim) Caps() *wire.Caps { return &s.caps }

// SetFaults changes how many datagrams are lost and doubled from now on.
func (s *Sim) SetFaults(loss, duplicate float64) { s.opt.Loss, s.opt.Duplicate = loss, duplicate }

// SetTamper changes SimOptions.Tamper from now on.
func (s *Sim) SetTamper(f func(h *wire.Header, payload []byte) (copies int)) { s.opt.Tamper = f }

// Step moves the time on to the next event and lets it happen. False: there is none.
func (s *Sim) Step() bool {
	if len(s.queue.items) == 0 {
		return false
	}
	var e *simEvent
	s.now, e = s.queue.pop()
	s.history.Events++
	s.happen(e)
	return true
}

// RunUntil lets everything happen that happens until then.
func (s *Sim) RunUntil(then time.Duration) {
	for len(s.queue.items) > 0 && s.queue.items[0].at <= then {
		s.Step()
	}
	s.now = max(s.now, then)
}

// UnderWay returns how many frames have been sent and have neither been taken nor
// lost, and how many pulls have begun and not ended.
func (s *Sim) UnderWay() int { return s.pool.frames + s.pulls }

// happen does what an event is for. Events are used again when they are over.
func (s *Sim) happen(e *simEvent) {
	switch e.kind {
	case simArrival:
		s.arrive(e)
		return // the frame may stay in an inbox
	case simEnd:
		s.end(e)
		return
	case simSyn:
		s.answer(e)
	case simUp:
		s.linkUp(e.link, e.dialled)
	case simDialFailed:
		if !e.port.closed {
			s.note("dial failed", e.port.self, e.to, nil)
			e.port.owner.DialFailed(e.to, e.err)
		}
	case simPoll:
		e.port.polling = false
		e.port.Poll()
	case simWritable:
		if l := e.link; !l.closed {
			l.port.owner.Writable()
		}
	case simRead, simPulled:
		s.movePull(e)
		return
	case simTimer:
		if !e.port.closed {
			e.port.owner.Timer(e.arg)
		}
	}
	s.pool.give(e)
}

// schedule has an event happen after so long.
func (s *Sim) schedule(after time.Duration, e *simEvent) { s.queue.push(s.now+after, e) }
