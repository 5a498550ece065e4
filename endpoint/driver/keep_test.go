package driver

import (
	"testing"
	"time"
)

// besideWhoComputes is a pace that has met a process that computes often enough to keep its core.
func besideWhoComputes(t *testing.T) *pace {
	p := freePace(t)
	for range sureOfRobs {
		if p.keep.on {
			t.Fatal("the core is kept too early")
		}
		p.offered(robbed + 1)
	}
	if !p.keep.on {
		t.Fatalf("the core is not kept, though a neighbour has taken it %d times", sureOfRobs)
	}
	return p
}

// spinInVain is a wait that spins, after so many others, and then sleeps.
func (p *pace) spinInVain(waits int) {
	p.keep.waits += waits
	p.begin(true, forRequest, 0)
	p.rest()
	p.slept(time.Millisecond)
}

// Beside a process that computes, a wait does not sleep at once, and spins for long without a pause.
func TestCoreIsKeptBesideWhoComputes(t *testing.T) {
	p := besideWhoComputes(t)
	budget, polls := p.begin(true, forRequest, 0)
	defer p.rest()
	if budget != heldSpin*DefaultSpin || polls != spinsPerLook || !p.alone() {
		t.Errorf("spins for %v, with %d polls between two looks, alone %v", budget, polls, p.alone())
	}
}

// Offers that come back soon count against those that don't.
func TestCoreIsOfferedAmongPeers(t *testing.T) {
	p := freePace(t)
	for range 100 {
		p.offered(robbed + 1)
		p.offered(leastTaken + 1)
	}
	if p.keep.on {
		t.Error("the core is kept, though every other offer was over soon")
	}
}

// Spins in vain one after the other end it, for longer each time.
func TestCoreIsOfferedAfterSpinsInVain(t *testing.T) {
	p := besideWhoComputes(t)
	for want := leastOff; ; want = min(moreOff*want, mostOff) {
		for range vainHolds {
			if !p.keep.on {
				t.Fatal("the core is offered too early")
			}
			p.spinInVain(1)
		}
		if p.keep.on || p.alone() {
			t.Fatal("the core is kept, though that is in vain")
		}
		off := 0
		for ; !p.keep.on; off++ {
			p.first(true)
			p.offered(robbed + 1)
		}
		if off != max(want, sureOfRobs) {
			t.Fatalf("the core is kept again after %d waits, not %d", off, want)
		}
		if want == mostOff {
			return
		}
	}
}

// Where waits mostly end without a sleep, the core is kept.
func TestCoreIsKeptWhileThatPays(t *testing.T) {
	p := besideWhoComputes(t)
	for range 100 {
		for range vainHolds - 1 {
			p.spinInVain(1)
		}
		p.spinInVain(worthHold)
	}
	if !p.keep.on {
		t.Error("the core is offered, though the peer answers")
	}
}

// Now and then the core is offered, and is kept on only if the neighbour is still there.
func TestCoreIsOfferedNowAndThen(t *testing.T) {
	for _, took := range []time.Duration{robbed + 1, 0} {
		p := besideWhoComputes(t)
		p.keep.waits = heldWaits + 1
		if p.begin(true, forRequest, 0); p.keep.on {
			t.Fatal("the core is kept for ever")
		}
		p.rest()
		if p.offered(took); p.keep.on != (took > robbed) {
			t.Errorf("an offer took %v, and the core is kept: %v", took, p.keep.on)
		}
	}
}
