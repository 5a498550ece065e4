package driver

import (
	"testing"
	"time"
)

// On a shared core the waits of sockets spin for a share of the time: one that comes now and then as long as any, and those of a busy
// flow not at all once they have had their share.
func TestSocketsSpinForAShareOfASharedCore(t *testing.T) {
	const spin, round = 40 * time.Microsecond, 100 * time.Microsecond
	p := freePace(t)
	spins := func(kind waitKind, now time.Duration) bool {
		budget, _ := p.begin(true, kind, now)
		p.rest()
		if budget > 0 {
			p.ended(kind, true, spin)
		}
		return budget > 0
	}
	now := time.Second
	for range 100 {
		if now += round; !spins(forWake, now) {
			t.Fatal("does not spin on a core of its own")
		}
	}
	p.offered(leastTaken + 1)
	n := 0
	for range 10_000 {
		now += round
		if spins(forWake, now) {
			n++
		}
		if !spins(forRequest, now) {
			t.Fatal("a wait for a request does not spin on a shared core")
		}
	}
	least := int(10_000 * round / rationShare / spin)
	if n < least-1 || n > least+int(mostRation/spin)+2 {
		t.Errorf("%d of 10000 waits have spun on a shared core, want about %d", n, least)
	}
	for range 100 {
		if now += 2 * rationShare * spin; !spins(forWake, now) {
			t.Fatal("a wait that comes now and then does not spin on a shared core")
		}
	}
}
