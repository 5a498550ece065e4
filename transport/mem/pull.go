package mem

import (
	"encoding/binary"
	"math/rand/v2"
	"sync"

	"gomx/transport"
	"gomx/transport/wire"
)

// Pulls says how pulls go that take time: the link answers with wire.PullStarted,
// and a later Poll of the port moves the bytes and reports the end. Each end of each
// link has a random stream of its own, as with Faults.
type Pulls struct {
	Seed  uint64
	Delay int     // a pull ends 1 to this many Polls later; 0: it ends at once
	Fail  float64 // chance that it fails when some of the bytes are in place
}

func (p Pulls) valid() bool { return p.Delay >= 0 && p.Fail >= 0 && p.Fail <= 1 }

// dice returns the dice of an end of a link, or nil if pulls take no time.
func (p Pulls) dice(number uint64) *pullDice {
	if p.Delay == 0 {
		return nil
	}
	return &pullDice{p, rand.New(rand.NewPCG(p.Seed, number))}
}

type pullDice struct {
	Pulls
	rng *rand.Rand
}

// pulls are those that one end of a link has under way. Methods may be called
// concurrently: ports are closed by any goroutine.
type pulls struct {
	dice *pullDice // nil: a pull takes no time

	mu      sync.Mutex
	started []startedPull
	over    bool // nothing may be written any more
}

type startedPull struct {
	id    uint64
	into  wire.Vec
	token uint64
	n     int
	due   uint64 // the Poll that ends it
	fails bool
}

// A memory descriptor has the number of the link's end that exported the memory, and the
// token that it has there. So a descriptor that was kept from an earlier link names
// nothing.
const descSize = 16

// Export describes v by number and token: the peer finds the rest here.
func (l *link) Export(dst []byte, v *wire.Vec) ([]byte, uint64) {
	return l.exported.appendDescriptor(dst, l.number, v)
}

func (l *link) Unexport(token uint64, _ bool) { l.exported.remove(token) }

func (l *link) Pull(desc []byte, v *wire.Vec, n int, id uint64) wire.PullResult {
	token, ok := tokenIn(desc, l.other.number)
	if !ok || l.in.cut.Load() || l.in.severed() {
		return wire.PullFailed
	}
	if l.pulls.dice != nil {
		l.pulls.start(startedPull{id: id, into: *v, token: token, n: n}, l.port.polls.Load())
		return wire.PullStarted
	}
	if !l.other.exported.copyTo(v, token, n) {
		return wire.PullFailed
	}
	return wire.PullDone
}

// tokenIn returns the token of a memory descriptor that the end of that number gave.
func tokenIn(desc []byte, number uint64) (token uint64, ok bool) {
	if len(desc) != descSize || binary.LittleEndian.Uint64(desc) != number {
		return 0, false
	}
	return binary.LittleEndian.Uint64(desc[8:]), true
}

func (p *pulls) start(s startedPull, step uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.due = step + 1 + uint64(p.dice.rng.IntN(p.dice.Delay))
	s.fails = p.dice.rng.Float64() < p.dice.Fail
	if !p.over {
		p.started = append(p.started, s)
	}
}

// finishPulls ends the pulls that are due, and returns how many.
func (l *link) finishPulls(h transport.Handler, step uint64) (finished int) {
	for {
		id, ok, any := l.pulls.finish(&l.other.exported, step)
		if !any {
			return finished
		}
		finished++
		h.PullFinished(id, ok)
	}
}

// finish moves the bytes of a pull that is due, if there is one. The lock is held
// meanwhile, so that after forget nothing is written.
func (p *pulls) finish(from *exports, step uint64) (id uint64, ok, any bool) {
	if p.dice == nil {
		return 0, false, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.started {
		s := &p.started[i]
		if s.due > step {
			continue
		}
		id = s.id
		if s.fails {
			from.copyTo(&s.into, s.token, s.n/2)
		} else {
			ok = from.copyTo(&s.into, s.token, s.n)
		}
		last := len(p.started) - 1
		p.started[i] = p.started[last]
		p.started[last] = startedPull{}
		p.started = p.started[:last]
		return id, ok, true
	}
	return 0, false, false
}

// forget ends all that is under way, and reports nothing.
func (p *pulls) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started, p.over = nil, true
}

// some reports whether anything is under way.
func (p *pulls) some() bool {
	if p.dice == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.started) > 0
}
