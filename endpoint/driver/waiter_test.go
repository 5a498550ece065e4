package driver_test

import (
	"testing"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/transport/mem"
)

// woken waits for Wake, which must come.
func (w *world) woken(v *driver.Waiter) {
	w.t.Helper()
	if ok, err := v.Wait(patience); !ok || err != nil {
		w.t.Errorf("waiting to be woken: %v %v", ok, err)
	}
}

// A Waiter remembers one Wake, and waits for the time that it is given otherwise.
func TestWakeIsRemembered(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		v := w.open(wait).NewWaiter(false)
		v.Wake()
		v.Wake()
		w.woken(v)
		for _, timeout := range []time.Duration{0, 3 * time.Millisecond} {
			if ok, err := v.Wait(timeout); ok || err != nil {
				t.Errorf("nobody woke it: %v %v", ok, err)
			}
		}
	})
}

// Wake reaches who polls, sleeps or is parked, and nobody else.
func TestWakeReachesTheOneWhoWaits(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		d := w.open(wait)
		var waiters []*driver.Waiter
		var joins []func()
		for range 5 {
			v := d.NewWaiter(false)
			waiters = append(waiters, v)
			joins = append(joins, inBackground(t, func() { w.woken(v) }))
		}
		for _, i := range []int{2, 0, 4, 1, 3} {
			waiters[i].Wake()
			joins[i]()
		}
	})
}

// A handler wakes whom its message is for: the goroutine that runs it, or one that is parked.
func TestWakeInsideTheHandler(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		a, b := w.open(wait), w.open(wait)
		to := w.connect(a, 1)
		waiters := []*driver.Waiter{b.NewWaiter(false), b.NewWaiter(false)}
		if err := b.SetHandler(func(m *endpoint.Incoming) endpoint.Action {
			waiters[m.Match].Wake()
			return endpoint.Finished
		}); err != nil {
			t.Fatal(err)
		}
		for range 50 {
			var joins []func()
			for _, v := range waiters {
				joins = append(joins, inBackground(t, func() { w.woken(v) }))
			}
			for _, i := range []uint64{1, 0} {
				w.wait(a, w.send(a, to, i, []byte{1}))
				joins[i]()
			}
		}
	})
}

// While goroutines wait to be woken, requests of others complete, whoever polls.
func TestWaitersMakeProgress(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		a, b := w.open(wait), w.open(wait)
		to := w.connect(a, 1)
		v := b.NewWaiter(false)
		join := inBackground(t, func() { w.woken(v) })
		for i := range uint64(20) {
			h := w.recv(b, i, make([]byte, 8))
			w.wait(a, w.send(a, to, i, make([]byte, 8)))
			w.wait(b, h)
		}
		v.Wake()
		join()
	})
}

// Close ends the wait, and later ones fail.
func TestCloseEndsWaiters(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		d := w.open(wait)
		for range 3 {
			v := d.NewWaiter(false)
			join := inBackground(t, func() {
				if ok, err := v.Wait(driver.Infinite); ok || err != driver.ErrClosed {
					t.Errorf("%v %v", ok, err)
				}
			})
			defer join()
		}
		w.close()
		if ok, err := d.NewWaiter(false).Wait(0); ok || err != driver.ErrClosed {
			t.Errorf("%v %v", ok, err)
		}
	})
}

func TestWakeAllocatesNothing(t *testing.T) {
	w := newWorld(t, mem.Options{})
	defer w.close()
	v := w.open().NewWaiter(false)
	if n := testing.AllocsPerRun(100, func() {
		v.Wake()
		_, _ = v.Wait(driver.Infinite)
		_, _ = v.Wait(0)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A goroutine that parks until a time takes the timer of an earlier wait.
func TestParkingUntilATimeAllocatesNothing(t *testing.T) {
	w := newWorld(t, mem.Options{})
	defer w.close()
	v := w.open().NewWaiter(true)
	if n := testing.AllocsPerRun(100, func() {
		if ok, err := v.Wait(10 * time.Microsecond); ok || err != nil {
			t.Errorf("%v %v", ok, err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
