package driver_test

import (
	"testing"
	"testing/synctest"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/transport/mem"
)

// classes has messages counted by the upper half of their match information.
func classes(c *driver.Config) { c.Engine.ClassShift = 32 }

// TestTimeInCallsOfLargeSends: waits for large sends are timed.
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
		for range 20_000 {
			w.wait(b, w.send(b, toA, 9, nil))
			began := time.Now()
			if ok, err := a.Wait(noContext, h, 0, &endpoint.Status{}); ok || err != nil { // it makes one pass
				t.Fatal(ok, err)
			}
			spent += time.Since(began)
		}
		tally := a.Report().Tallies[1]
		if got := time.Duration(tally.Waited + tally.Spent); got > spent+spent/20 || got < spent-spent/20 {
			t.Errorf("%v in calls, measured %v", got, spent)
		}
		w.wait(b, w.recv(b, 1<<32, make([]byte, 40_000)))
		w.wait(a, h)
	})
}
