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

// No more goroutines spin than there are processors.
func TestSpinnersAreCounted(t *testing.T) {
	procs := runtime.GOMAXPROCS(2)
	defer runtime.GOMAXPROCS(procs)
	var all [3]pace
	spun := 0
	for i := range all {
		all[i] = newPace(0)
		if all[i].begin() > 0 {
			defer leaveSpin()
			spun++
		}
	}
	if spun > 2 || all[2].alone() {
		t.Errorf("%d goroutines spin on 2 processors, alone %v", spun, all[2].alone())
	}
	never := newPace(-1)
	if never.begin() != 0 || never.alone() {
		t.Error("spins, though it is told never to")
	}
}
