package driver

import (
	"testing"
	"time"
)

// A wait in which nothing comes offers the core at once, and one that serves others in a lull, or now and then.
func TestOffersWaitForALull(t *testing.T) {
	const look = time.Microsecond
	s, now := newService(0), time.Millisecond
	for range 3 {
		if now += look; s.goesOn(now, false) {
			t.Fatal("nothing has come, and the offer waits")
		}
		s.offered = now
	}
	for range 3 {
		start := s.offered
		for ; s.goesOn(now+look, true); now += look {
			if now-start >= longServed {
				t.Fatalf("no offer %v after the last one", now-start)
			}
		}
		if now += look; now-start < longServed {
			t.Errorf("an offer %v after the last one, though something comes at each look", now-start)
		}
		s.offered = now
	}
	start := now
	s.goesOn(now, true)
	for ; s.goesOn(now+look, false); now += look {
		if now-start >= lull {
			t.Fatalf("no offer %v after what came last", now-start)
		}
	}
	if now += look; now-start < lull {
		t.Errorf("an offer %v after what came last", now-start)
	}
}
