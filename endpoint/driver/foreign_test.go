//go:build linux

package driver

import (
	"sync"
	"testing"
	"time"

	"gomx/transport/bell"
)

// pollsInC is what giveWay needs of an endpoint one of whose ports polls in C.
func pollsInC(t *testing.T) *Endpoint {
	b, err := bell.New()
	if err != nil {
		t.Fatal(err)
	}
	d := &Endpoint{bell: b, start: time.Now(), pace: newPace(0, priced(0)), foreign: true}
	t.Cleanup(func() { d.pace.end(); b.Close() })
	return d
}

// Who polls in C goes through the scheduler each millisecond, not at each look and without the lock; who polls in Go need not.
func TestWhoPollsInCGoesThroughTheScheduler(t *testing.T) {
	d := pollsInC(t)
	d.lock()
	defer d.unlock()
	now := d.giveWay(d.clock(), 0)
	first := d.offerAt
	if first < foreignOffers {
		t.Fatalf("the next offer is at %v, want %v from now on or later", first, foreignOffers)
	}
	for now < first-foreignOffers/2 { // the machine may stand still meanwhile
		if now = d.giveWay(now, 0); d.offerAt != first && now < first {
			t.Fatalf("offered again at %v, before %v", now, first)
		}
	}
	if now = d.giveWay(max(now, first), 0); d.offerAt == first {
		t.Errorf("not offered at %v, though it was due at %v", now, first)
	}
	d.foreign, d.offerAt = false, 0
	if d.giveWay(now, 0); d.offerAt != 0 {
		t.Error("offered, though nothing is polled in C")
	}
}

// Several that go through the scheduler at once write nothing without the lock; the race detector sees it if they do.
func TestManyGiveWayAtOnce(t *testing.T) {
	d := pollsInC(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 100 {
				d.lock()
				d.giveWay(time.Hour, 0) // an offer is due
				d.unlock()
			}
		})
	}
	all.Wait()
}
