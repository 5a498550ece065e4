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

	shortSleep = 8 // in longest spins: after a shorter sleep, spinning might have paid

	briefly      = 256                  // polls that a wait begins with on a core of our own
	spinsPerLook = 64                   // polls between two looks at the clock, on a core of our own
	taken        = 2 * time.Microsecond // an offer of the core that takes longer was taken
	keptTimes    = 16                   // offers of the core that nobody takes say that it is ours
	sharedSpin   = 16                   // on a shared core the longest spin is so many times as long: others work meanwhile
	singleOffers = 16                   // a single endpoint offers its processor to goroutines in every so many offers
	robbed       = time.Millisecond / 2 // an offer that takes longer went to a neighbour who computes
	moreSleeps   = 8                    // one wait sleeps at once after that, and so many times as many each time that it happens again
	mostSleeps   = 4096                 // but no more than so many
	forgiven     = 1024                 // and so many offers without such a neighbour are as if there had been none
	procsEvery   = 256                  // spins between two looks at GOMAXPROCS, which take a lock
)

// spinners counts the goroutines of this process that spin. More of them than
// processors only keep each other from getting on.
var spinners atomic.Int32

// spinning counts the open endpoints of this process that spin. With a single one hardly any other goroutine is
// ever ready, and looking for one costs more than a poll.
var spinning atomic.Int32

// pace decides how long a waiting caller spins. The budget follows recent waits: it
// grows when a sleep was short, and shrinks when a sleep was long. On a shared core
// the caller offers the core to others after each poll.
type pace struct {
	most    time.Duration
	budget  time.Duration
	shared  bool    // the core is: yield after each poll
	turns   bool    // with those that we wait for
	counted bool    // among the spinners
	kept    int     // offers of the core in a row that nobody took
	safe    int     // offers since a neighbour kept the core
	sleeps  int     // waits to come that sleep at once
	series  int     // how many they were the last time
	keep    keeping // beside a neighbour who computes
	own     ownSpin
	offers  uint32
	begun   uint32
	procs   int32 // GOMAXPROCS, as last read
}

func newPace(most time.Duration) pace {
	switch {
	case most == 0:
		most = DefaultSpin
	case most < 0:
		most = 0
	}
	if most > 0 {
		spinning.Add(1)
	}
	return pace{most: most, budget: most, procs: int32(runtime.GOMAXPROCS(0))}
}

// takeTurns is for so many endpoints on one core that wait for each other. The core is then offered after each poll for
// good, since one of them takes it, and a spin lasts for as many rounds of turns as it would alone.
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
// rest when it does not spin any more. The endpoint's own goroutine neither spins for longer on a shared core nor keeps one.
func (p *pace) begin(spins, own bool) (budget time.Duration, polls int) {
	if p.most == 0 || !spins || own && !p.own.begin() {
		return 0, 1
	}
	held := p.keep.begin(own)
	if p.sleeps > 0 && !held {
		p.sleeps--
		return 0, 1
	}
	if p.begun++; p.begun%procsEvery == 0 {
		p.procs = int32(runtime.GOMAXPROCS(0))
	}
	if spinners.Add(1) > p.procs {
		spinners.Add(-1)
		p.keep.tried = false // it does not spin, and so not in vain
		return 0, 1
	}
	p.counted = true
	switch {
	case held:
		return heldSpin * p.most, spinsPerLook
	case p.shared && own:
		return p.budget, 1
	case p.shared:
		return sharedSpin * p.budget, 1
	}
	return p.budget, spinsPerLook
}

func (p *pace) rest() {
	if p.counted {
		p.counted = false
		spinners.Add(-1)
	}
}

// alone reports whether polling without a pause takes the core from no other.
func (p *pace) alone() bool { return p.most != 0 && (!p.shared || p.keep.on) && !p.full() }

// full reports whether as many goroutines spin as there are processors: others of this
// process wait for one. While a processor is free it takes them, and offering ours would
// do nothing but wake threads.
func (p *pace) full() bool { return spinners.Load() >= p.procs }

// offersProcessor reports whether the next offer is to goroutines, too. It comes from one who counts for so many more who spin.
func (p *pace) offersProcessor(more int32) bool {
	p.offers++
	return spinners.Load()+more >= p.procs && (p.offers%singleOffers == 0 || spinning.Load() > 1)
}

// polls is how many polls there are between two looks at the clock.
func (p *pace) polls() int {
	if p.shared {
		return 1
	}
	return spinsPerLook
}

// offered notes how long others had the core when we offered it. One offer that is taken
// says that it is shared, and a number of them in a row that are not that it is ours. A neighbour that computes keeps it for
// its whole slice, and who sleeps has it back sooner: the system gives it to those that are woken.
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
	case took > taken:
		p.shared, p.kept = true, 0
	case p.shared:
		p.kept++
		p.shared = p.kept < keptTimes
	}
	p.keep.spared()
}

// slept notes how long a sleep after spinning took. Being woken takes a while by
// itself, and two processes that wait for each other's wake-ups would never find
// out of it if only sleeps shorter than the budget counted in favour of spinning.
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
