package driver_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/transport/mem"
)

// classes has messages counted by the upper half of their match information.
func classes(c *driver.Config) { c.Engine.ClassShift = 32 }

// TestTimeInCalls lets a handler take time in the calls of two classes, and compares what is counted with the sum of what was measured.
// One of the waits is long, and one call loses its processor for a while.
func TestTimeInCalls(t *testing.T) {
	if !endpoint.Counting {
		t.Skip("it was built with the tag mx_nocounters, and counts nothing")
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		a, b := w.open(asleep), w.open(asleep, classes)
		toB := w.connect(a, 1)
		var takes time.Duration
		if err := b.SetHandler(func(*endpoint.Incoming) endpoint.Action { time.Sleep(takes); return endpoint.Finished }); err != nil {
			t.Fatal(err)
		}
		spent := map[uint64]time.Duration{}
		call := func(class uint64, f func(h endpoint.Handle)) {
			h := w.recv(b, class<<32, make([]byte, 8))
			w.wait(a, w.send(a, toB, 9, nil))
			began := time.Now()
			f(h)
			spent[class] += time.Since(began)
			if _, err := b.Cancel(h); err != nil {
				t.Fatal(err)
			}
		}
		test := func(h endpoint.Handle) {
			if ok, err := b.Test(h, &endpoint.Status{}); ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		const calls = 100_000
		for range calls {
			takes = 10 * time.Microsecond
			call(1, test)
			takes = 30 * time.Microsecond
			call(2, test)
		}
		call(1, func(h endpoint.Handle) {
			if ok, err := b.Wait(noContext, h, time.Second, &endpoint.Status{}); ok || err != nil {
				t.Fatal(ok, err)
			}
		})
		for class, want := range spent {
			tally := b.Report().Tallies[class]
			if got := time.Duration(tally.Waited + tally.Spent); math.Abs(float64(got-want)) > 0.15*float64(want) {
				t.Errorf("class %d: %v in calls, measured %v", class, got, want)
			} else {
				t.Logf("class %d: %v in calls, measured %v", class, got, want)
			}
		}
		if tally := b.Report().Tallies[1]; time.Duration(tally.Waited) < 900*time.Millisecond || tally.Waits != 1 {
			t.Errorf("%d long waits of %v", tally.Waits, time.Duration(tally.Waited))
		}
	})
}

// TestTimeInCallsOfLargeSends: waits for a large send count for its class, though what comes meanwhile is of another.
func TestTimeInCallsOfLargeSends(t *testing.T) {
	if !endpoint.Counting {
		t.Skip("it was built with the tag mx_nocounters, and counts nothing")
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		a, b := w.open(asleep, classes), w.open(asleep)
		toB, toA := w.connect(a, 1), w.connect(b, 0)
		if err := a.SetHandler(func(*endpoint.Incoming) endpoint.Action { time.Sleep(time.Microsecond); return endpoint.Finished }); err != nil {
			t.Fatal(err)
		}
		h := w.send(a, toB, 1<<32, make([]byte, 40_000)) // which nothing receives before the end
		var spent time.Duration
		for range 300_000 {
			w.wait(b, w.send(b, toA, 9, nil))
			began := time.Now()
			if ok, err := a.Wait(noContext, h, 0, &endpoint.Status{}); ok || err != nil { // it makes one pass
				t.Fatal(ok, err)
			}
			spent += time.Since(began)
		}
		tally := a.Report().Tallies[1]
		if got := time.Duration(tally.Waited + tally.Spent); got > spent+spent/10 || got < spent-spent/10 {
			t.Errorf("%v in calls, measured %v", got, spent)
		}
		w.wait(b, w.recv(b, 1<<32, make([]byte, 40_000)))
		w.wait(a, h)
	})
}
