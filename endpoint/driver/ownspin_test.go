package driver

import (
	"testing"
	"time"
)

// The endpoint's own goroutine spins until that has been in vain a few times in a row, and then sleeps at once for ever more waits,
// until it pays again.
func TestOwnGoroutineSpinsWhileItPays(t *testing.T) {
	p := freePace(t)
	spins := func() bool {
		budget, _ := p.begin(true, forEver, 0)
		p.rest()
		return budget > 0
	}
	for rests := ownRests; rests <= 4*mostRests; rests *= 2 {
		for i := range vainSpins {
			if !spins() {
				t.Fatalf("does not spin after %d spins in vain", i)
			}
			p.own.end(false)
		}
		for i := range min(rests, mostRests) {
			if spins() {
				t.Fatalf("spins again after %d of %d waits", i, min(rests, mostRests))
			}
		}
	}
	for range 3 * vainSpins { // now and then is enough
		if !spins() {
			t.Fatal("does not spin, though it pays")
		}
		p.own.end(true)
		p.own.end(false)
	}
}

// On a shared core it spins no longer than on one of its own.
func TestOwnGoroutineLeavesASharedCore(t *testing.T) {
	p := freePace(t)
	p.offered(time.Millisecond / 4)
	budget, polls := p.begin(true, forEver, 0)
	p.rest()
	if !p.shared || budget != DefaultSpin || polls != 1 {
		t.Errorf("shared %v: spins %v, looks at the clock every %d polls", p.shared, budget, polls)
	}
}
