package driver

import (
	"runtime"
	"sync/atomic"
	"time"
)

// How long to spin before sleeping.
const (
	DefaultSpin = 50 * time.Microsecond
	leastSpin   = time.Microsecond

	shortSleep = 8 // in longest spins: after a sleep shorter than this, spinning might have paid

	briefly      = 256                  // polls at the begin of a wait, on a core that no other goroutine wants
	spinsPerLook = 64                   // polls between two readings of the clock, on such a core
	keptTimes    = 16                   // after so many offers that nobody takes, the core counts as not shared
	sharedSpin   = 16                   // factor of the longest spin on a shared core, during which others run
	pollsPerTurn = 2                    // polls between two offers among endpoints that take turns: what crosses from another core meanwhile saves a turn
	singleOffers = 16                   // a single endpoint makes one in so many offers to goroutines, too
	robbed       = time.Millisecond / 2 // an offer that takes longer went to a process that computes
	moreSleeps   = 8                    // after such an offer one wait sleeps at once; each repetition multiplies the number of such waits
	mostSleeps   = 4096                 // upper bound of these waits
	forgiven     = 1024                 // after so many offers without such a process the number starts again at one
	procsEvery   = 256                  // spins, or offers, between two readings of GOMAXPROCS, each of which takes a lock
)

// spinners counts the goroutines of this process that spin. If they outnumber the processors, they only delay each other.
var spinners atomic.Int32

// spinning counts the open endpoints of this process that spin. If there is only one, hardly any other goroutine is ever ready,
// and asking the scheduler for one costs more than a poll.
var spinning atomic.Int32

// pace decides how long a waiting caller spins. The budget follows recent waits: it
// grows when a sleep was short, and shrinks when a sleep was long. On a shared core
// the caller offers the core to others after each poll.
type pace struct {
	price
	most    time.Duration
	budget  time.Duration
	shared  bool    // the core is shared: yield after each poll
	turns   bool    // the core is shared with the endpoints that this one waits for
	counted bool    // spinners includes this goroutine
	kept    int     // offers of the core in a row that nobody took
	safe    int     // offers since another process kept the core
	sleeps  int     // number of coming waits that sleep at once
	series  int     // value of sleeps after the last such offer
	keep    keeping // spinning beside a process that computes
	own     ownSpin
	ration  ration
	offers  uint32
	begun   uint32
	procs   int32 // GOMAXPROCS, as last read
}

func newPace(most time.Duration, offer price) pace {
	switch {
	case most == 0:
		most = DefaultSpin
	case most < 0:
		most = 0
	}
	if most > 0 {
		spinning.Add(1)
	}
	return pace{price: offer, most: most, budget: most, procs: int32(runtime.GOMAXPROCS(0))}
}

// takeTurns is for endpoints that share a core and wait for each other. From then on the core is offered after each poll,
// since one of them takes it. A spin is as many times longer as there are endpoints.
func (p *pace) takeTurns(among int) {
	p.turns, p.shared = true, true
	p.most *= time.Duration(among)
	p.budget = p.most
}

// end stops counting the endpoint among those that spin.
func (p *pace) end() {
	if p.most > 0 {
		spinning.Add(-1)
	}
}

// first is how many polls a wait begins with before it reads the clock. They find what is already on its way, at the
// cost of the polls alone. For whoever waits for nothing it is one: where a poll is a system call and a goroutine serves
// many endpoints, those of the endpoints' own goroutines would keep it from getting round to them.
func (p *pace) first(waits bool) int {
	p.keep.waits++
	if !waits || !p.alone() {
		return 1
	}
	return briefly
}

// begin reports how long to spin now, and how many polls there are between two looks at the clock. The caller calls
// rest when it does not spin any more. The endpoint's own goroutine neither spins for longer on a shared core nor keeps one, and a wait at
// a Waiter spins on one within its ration.
func (p *pace) begin(spins bool, kind waitKind, now time.Duration) (budget time.Duration, polls int) {
	own := kind == forEver
	if p.most == 0 || !spins || own && !p.own.begin() || p.rationed(kind) && !p.ration.grant(now) {
		return 0, 1
	}
	held := p.keep.begin(own)
	if p.sleeps > 0 && !held {
		p.sleeps--
		return 0, 1
	}
	p.begun++
	p.recount(p.begun)
	if spinners.Add(1) > p.procs {
		spinners.Add(-1)
		p.keep.tried = false // without spinning there is no failed try to count
		return 0, 1
	}
	p.counted = true
	switch {
	case held:
		return heldSpin * p.most, spinsPerLook
	case p.turns && !own:
		return sharedSpin * p.budget, pollsPerTurn
	case p.shared:
		return p.budget, 1
	}
	return p.budget, spinsPerLook
}

// recount reads GOMAXPROCS now and then, by a number that grows: it changes where ranks share cores.
func (p *pace) recount(n uint32) {
	if n%procsEvery == 0 {
		p.procs = int32(runtime.GOMAXPROCS(0))
	}
}

// rationed reports whether a wait of that kind spins within a ration.
func (p *pace) rationed(kind waitKind) bool {
	return kind == forWake && p.shared && !p.turns && !p.keep.on
}

// ended notes how a spin that took so long of the processor has ended: something came, or nothing did.
func (p *pace) ended(kind waitKind, came bool, took time.Duration) {
	switch {
	case kind == forEver:
		p.own.end(came)
	case p.rationed(kind):
		p.ration.spend(took)
	}
}

// spent reports whether a wait that has found nothing for a while has spun for long enough. On a shared core the time counts that the
// wait took from others, without what it lent to them; among endpoints that take turns all of it counts.
func (p *pace) spent(idle, lent, budget time.Duration) bool {
	return idle >= budget && (idle-lent >= budget || !p.shared || p.turns || idle >= sharedSpin*budget)
}

func (p *pace) rest() {
	if p.counted {
		p.counted = false
		spinners.Add(-1)
	}
}

// alone reports whether polling without a pause takes the core from no other.
func (p *pace) alone() bool { return p.most != 0 && (!p.shared || p.keep.on) && !p.full() }

// full reports whether as many goroutines spin as there are processors, so that other goroutines of this process wait for one.
// While a processor is free it runs them, and offering this one would only wake threads.
func (p *pace) full() bool { return spinners.Load() >= p.procs }

// offersProcessor reports whether the next offer is made to goroutines, too. The caller stands for more further spinners.
func (p *pace) offersProcessor(more int32) bool {
	p.offers++
	p.recount(p.offers)
	return spinners.Load()+more >= p.procs && (p.offers%singleOffers == 0 || spinning.Load() > 1)
}

// polls is how many polls there are between two looks at the clock.
func (p *pace) polls() int {
	if p.shared {
		return 1
	}
	return spinsPerLook
}

// offered notes how long others had the core after an offer. After one offer that was taken the core counts as shared, and after
// keptTimes offers in a row that nobody took it does not. A process that computes keeps the core for its whole time slice. A
// sleeping caller gets the core back sooner than that, because the system prefers processes that are woken.
func (p *pace) offered(took time.Duration) {
	if p.turns {
		return
	}
	if p.safe++; p.safe > forgiven {
		p.series = 0
	}
	switch {
	case took > robbed:
		p.series = min(max(moreSleeps*p.series, 1), mostSleeps)
		p.shared, p.kept, p.safe, p.sleeps = true, 0, 0, p.series
		if p.keep.robbed() {
			p.sleeps = 0
		}
		return
	case took > p.taken:
		p.shared, p.kept = true, 0
	case p.shared:
		p.kept++
		p.shared = p.kept < keptTimes
	}
	p.keep.spared()
}

// slept notes how long a sleep after spinning took. A sleep counts in favour of spinning up to shortSleep times the longest
// spin, because being woken takes time by itself: otherwise two processes that sleep for each other would never begin to spin.
func (p *pace) slept(d time.Duration) {
	if p.keep.slept() {
		return
	}
	if d < shortSleep*p.most {
		p.budget = p.most
	} else {
		p.budget = max(min(leastSpin, p.most), p.budget/2)
	}
}
