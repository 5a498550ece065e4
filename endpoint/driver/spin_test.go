package driver

import (
	"runtime"
	"testing"
	"time"
)

// freePace is the pace of an endpoint on a machine with so many processors that it makes no difference who spins besides: what is left of
// the tests before may do so yet.
func freePace(t *testing.T) *pace {
	t.Helper()
	procs := runtime.GOMAXPROCS(16)
	p := newPace(0, priced(0))
	t.Cleanup(func() { p.end(); runtime.GOMAXPROCS(procs) })
	return &p
}

// One offer of the core that somebody takes makes it a shared one, until a number of
// offers in a row were not taken.
func TestCoreIsSharedUntilNobodyWantsIt(t *testing.T) {
	p := freePace(t)
	p.offered(leastTaken)
	if p.shared || p.polls() != spinsPerLook {
		t.Fatal("shared, though the offer came back at once")
	}
	for range 3 {
		p.offered(time.Second)
		for range keptTimes - 1 {
			if !p.shared || p.polls() != 1 || p.alone() {
				t.Fatal("not shared, though somebody took the core a moment ago")
			}
			p.offered(leastTaken)
		}
	}
	if p.offered(0); p.shared {
		t.Error("shared, though nobody takes the core")
	}
}

// On a shared core a wait spins until it has itself used the core for the longest spin, or until others have had it for a long time.
func TestSpinOnASharedCore(t *testing.T) {
	const lent = 10 * time.Microsecond
	p := freePace(t)
	ends := func(own bool, lent time.Duration) (idle time.Duration) {
		kind := forRequest
		if own {
			kind = forEver
		}
		budget, _ := p.begin(true, kind, 0)
		defer p.rest()
		for idle = time.Microsecond; !p.spent(idle, min(lent, idle), budget); idle += time.Microsecond {
		}
		return idle
	}
	for _, c := range []struct {
		of           string
		before       func()
		own          bool
		lent, expect time.Duration
	}{
		{"a core of its own", func() {}, false, lent, DefaultSpin},
		{"a shared core that nobody wants", func() { p.offered(2 * lent) }, false, 0, DefaultSpin},
		{"a shared core", func() {}, false, lent, DefaultSpin + lent},
		{"a core that others have all the time", func() {}, false, time.Second, sharedSpin * DefaultSpin},
		{"the endpoint's own goroutine", func() {}, true, 0, DefaultSpin},
		{"a core where 2 take turns", func() { p.takeTurns(2) }, false, 0, 2 * sharedSpin * DefaultSpin},
		{"such a core that others have all the time", func() {}, false, time.Second, 2 * sharedSpin * DefaultSpin},
		{"the own goroutine among 2 that take turns", func() {}, true, 0, 2 * DefaultSpin},
	} {
		if c.before(); ends(c.own, c.lent) != c.expect {
			t.Errorf("%s: spins for %v, want %v", c.of, ends(c.own, c.lent), c.expect)
		}
	}
}

// Among those that wait for each other the core is offered for ever, and no endpoint is taken for a process that computes.
func TestTurnsOnACore(t *testing.T) {
	p := freePace(t)
	p.takeTurns(16)
	if p.most != 16*DefaultSpin || p.budget != p.most {
		t.Errorf("spins %v, %v at most, want 16 x %v", p.budget, p.most, DefaultSpin)
	}
	for range 2 * keptTimes {
		p.offered(0)
	}
	for range 2 * sureOfRobs {
		p.offered(time.Second)
	}
	if _, polls := p.begin(true, forRequest, 0); polls != pollsPerTurn {
		t.Errorf("%d polls in a turn of a wait, not %d", polls, pollsPerTurn)
	}
	p.rest()
	if !p.shared || p.polls() != 1 || p.keep.on || p.sleeps != 0 {
		t.Errorf("shared %v with a look at the clock every %d polls, kept %v, %d waits sleep at once", p.shared, p.polls(), p.keep.on, p.sleeps)
	}
}

// Among several endpoints the one that spins offers its processor each time, and a single one now and then.
func TestProcessorIsOffered(t *testing.T) {
	procs := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(procs)
	p := newPace(0, priced(0))
	defer p.end()
	p.begin(true, forRequest, 0)
	defer p.rest()
	offers := func() (n int) {
		for range 4 * singleOffers {
			if p.offersProcessor(0) {
				n++
			}
		}
		return n
	}
	if n := offers(); n != 4 {
		t.Errorf("%d offers of a single endpoint, not 4", n)
	}
	other := newPace(0, priced(0))
	if n := offers(); n != 4*singleOffers {
		t.Errorf("%d offers among two, not all %d", n, 4*singleOffers)
	}
	if other.end(); offers() != 4 {
		t.Error("the other is gone, and counts")
	}
}

// Calls that never wait notice as well that there are fewer processors than before.
func TestFewerProcessorsAreNoticed(t *testing.T) {
	p, other := freePace(t), newPace(0, priced(0)) // whose goroutines want the processor
	defer other.end()
	if p.offersProcessor(1) {
		t.Fatal("a processor of many is offered")
	}
	runtime.GOMAXPROCS(1) // as where the ranks of a job are more than the cores
	for range procsEvery {
		if p.offersProcessor(1) {
			return
		}
	}
	t.Error("the only processor is not offered")
}

// No more goroutines spin than there are processors.
func TestSpinnersAreCounted(t *testing.T) {
	procs := runtime.GOMAXPROCS(2)
	defer runtime.GOMAXPROCS(procs)
	var all [3]pace
	spun := 0
	for i := range all {
		all[i] = newPace(0, priced(0))
		defer all[i].end()
		if budget, _ := all[i].begin(true, forRequest, 0); budget > 0 {
			defer all[i].rest()
			spun++
		}
	}
	if spun > 2 || all[2].alone() {
		t.Errorf("%d goroutines spin on 2 processors, alone %v", spun, all[2].alone())
	}
	never := newPace(-1, priced(0))
	if budget, _ := never.begin(true, forRequest, 0); budget != 0 || never.alone() {
		t.Error("spins, though it is told never to")
	}
}

// Where a neighbour keeps the core, waits sleep at once: more of them each time, until nobody has kept it for long.
func TestWaitsSleepBesideWhoComputes(t *testing.T) {
	p := freePace(t)
	p.keep.off = 1 << 30
	asleep := func() (n int) {
		for {
			budget, _ := p.begin(true, forRequest, 0)
			p.rest()
			if budget > 0 {
				return n
			}
			n++
		}
	}
	if n := asleep(); n != 0 {
		t.Fatalf("%d waits sleep at once on a core that nobody has wanted", n)
	}
	p.offered(robbed)
	if n := asleep(); n != 0 {
		t.Fatalf("%d waits sleep at once, though whoever was offered the core gave it back soon", n)
	}
	for want := 1; want <= mostSleeps; want *= moreSleeps {
		p.offered(robbed + 1)
		if n := asleep(); n != want {
			t.Fatalf("%d waits sleep at once, not %d", n, want)
		}
	}
	p.offered(robbed + 1)
	if n := asleep(); n != mostSleeps {
		t.Errorf("%d waits sleep at once, more than %d", n, mostSleeps)
	}
	for range forgiven + 1 {
		p.offered(0)
	}
	p.offered(robbed + 1)
	if n := asleep(); n != 1 {
		t.Errorf("%d waits sleep at once after a long time alone, not 1", n)
	}
}

// Callers spin by themselves, and the endpoint's own goroutine for those who park.
func TestWhoSpins(t *testing.T) {
	for _, c := range []struct {
		blocked, passive int
		caller, own      bool
	}{
		{0, 0, true, false},
		{1, 0, true, true},
		{2, 0, false, true},
		{1, 1, false, false},
		{2, 1, false, true},
	} {
		d := &Endpoint{blocked: c.blocked}
		d.parked.passive = c.passive
		if caller, own := d.spinsFor(false), d.spinsFor(true); caller != c.caller || own != c.own {
			t.Errorf("%d wait, %d of them passively: a caller spins %v, the own goroutine %v", c.blocked, c.passive, caller, own)
		}
	}
}
