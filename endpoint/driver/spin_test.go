package driver

import (
	"runtime"
	"testing"
	"time"
)

// One offer of the core that somebody takes makes it a shared one, until a number of
// offers in a row were not taken.
func TestCoreIsSharedUntilNobodyWantsIt(t *testing.T) {
	p := newPace(0)
	defer p.end()
	p.offered(taken)
	if p.shared || p.polls() != spinsPerLook {
		t.Fatal("shared, though the offer came back at once")
	}
	for range 3 {
		p.offered(time.Second)
		for range keptTimes - 1 {
			if !p.shared || p.polls() != 1 || p.alone() {
				t.Fatal("not shared, though somebody took the core a moment ago")
			}
			p.offered(taken)
		}
	}
	if p.offered(0); p.shared {
		t.Error("shared, though nobody takes the core")
	}
}

// Among several endpoints the one that spins offers its processor each time, and a single one now and then.
func TestProcessorIsOffered(t *testing.T) {
	procs := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(procs)
	p := newPace(0)
	defer p.end()
	p.begin(false)
	defer p.rest()
	offers := func() (n int) {
		for range 4 * loneOffers {
			if p.offersProcessor(0) {
				n++
			}
		}
		return n
	}
	if n := offers(); n != 4 {
		t.Errorf("%d offers of a single endpoint, not 4", n)
	}
	other := newPace(0)
	if n := offers(); n != 4*loneOffers {
		t.Errorf("%d offers among two, not all %d", n, 4*loneOffers)
	}
	if other.end(); offers() != 4 {
		t.Error("the other is gone, and counts")
	}
}

// No more goroutines spin than there are processors.
func TestSpinnersAreCounted(t *testing.T) {
	procs := runtime.GOMAXPROCS(2)
	defer runtime.GOMAXPROCS(procs)
	var all [3]pace
	spun := 0
	for i := range all {
		all[i] = newPace(0)
		defer all[i].end()
		if budget, _ := all[i].begin(false); budget > 0 {
			defer all[i].rest()
			spun++
		}
	}
	if spun > 2 || all[2].alone() {
		t.Errorf("%d goroutines spin on 2 processors, alone %v", spun, all[2].alone())
	}
	never := newPace(-1)
	if budget, _ := never.begin(false); budget != 0 || never.alone() {
		t.Error("spins, though it is told never to")
	}
}
