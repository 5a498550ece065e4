package driver_test

import (
	"testing"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/transport/mem"
)

// A caller takes the polling role from the background goroutine, which sleeps.
func TestCallerEvictsTheSleepingBackground(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		d := w.open(wait)
		h := w.recv(d, 1, nil)
		for range 3 {
			time.Sleep(30 * time.Millisecond) // of idleness, which is what brings the background in
			inBackground(t, func() { _, _ = d.Test(h, new(endpoint.Status)) })()
		}
	})
}

// A request's own timeout ends it though nobody calls, also if the background
// goroutine went to sleep before there was a timeout to wake up for.
func TestTimeoutSetWhileBackgroundSleeps(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		for _, idle := range []time.Duration{0, 50 * time.Millisecond} {
			w := newWorld(t, mem.Options{})
			a, _ := w.open(wait), w.open(wait)
			to := w.connect(a, 1)
			time.Sleep(idle)
			h := w.send(a, to, 1, make([]byte, 1<<20))
			if err := a.SetTimeout(h, 30*time.Millisecond); err != nil {
				t.Fatal(err)
			}
			done := false
			for end := time.Now().Add(patience); !done && time.Now().Before(end); {
				time.Sleep(20 * time.Millisecond)
				a.Query(func(e *endpoint.Engine) { done = e.Done(h) })
			}
			if !done {
				t.Errorf("after %v of idleness: still pending", idle)
			} else if st := w.wait(a, h); st.Code != endpoint.TimedOut {
				t.Errorf("after %v of idleness: %v", idle, st.Code)
			}
			w.close()
		}
	})
}

// The same while another caller sleeps in a wait of its own.
func TestTimeoutSetWhileAnotherSleeps(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		a, _ := w.open(wait), w.open(wait)
		to := w.connect(a, 1)
		other := w.recv(a, 9, nil)
		joinOther := inBackground(t, func() { _, _ = a.Wait(noContext, other, driver.Infinite, new(endpoint.Status)) })
		time.Sleep(20 * time.Millisecond)
		h := w.send(a, to, 1, make([]byte, 1<<20))
		if err := a.SetTimeout(h, 30*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		var st endpoint.Status
		ok := false
		for end := time.Now().Add(patience); !ok && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
			a.Query(func(e *endpoint.Engine) { ok = e.Done(h) })
		}
		if !ok {
			t.Error("still pending")
		} else if st = w.wait(a, h); st.Code != endpoint.TimedOut {
			t.Error(st.Code)
		}
		a.Wakeup()
		joinOther()
	})
}
