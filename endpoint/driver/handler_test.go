package driver_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/transport/mem"
)

// deeply calls f below so many frames.
//
//go:noinline
func deeply(frames int, f func()) {
	if frames == 0 {
		f()
		return
	}
	deeply(frames-1, f)
	sunk.Add(1)
}

var sunk atomic.Int64

func TestCloseInsideTheHandler(t *testing.T) {
	for name, c := range map[string]struct {
		depth   int
		options []option
	}{
		"threads":         {0, nil},
		"threads, deep":   {200, nil},
		"single-threaded": {0, []option{singleThreaded}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, mem.Options{})
			defer w.close()
			d := w.open(c.options...)
			got := make(chan error, 1)
			err := d.SetHandler(func(*endpoint.Incoming) endpoint.Action {
				deeply(c.depth, func() { got <- d.Close() })
				return endpoint.Finished
			})
			if err != nil {
				t.Fatal(err)
			}
			inBackground(t, func() {
				w.wait(d, w.send(d, d.Self(), 1, []byte{1}))
				if err := <-got; !errors.Is(err, driver.ErrInHandler) { // of the background, if that was quicker
					t.Errorf("close inside the handler: %v", err)
				}
			})()
		})
	}
}

// Pausing inside the handler is allowed; from outside it waits for the handler.
func TestPauseAndHandler(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		a, b := w.open(wait), w.open(wait)
		to := w.connect(a, 1)
		var running atomic.Bool
		entered, leave := make(chan struct{}), make(chan struct{})
		err := b.SetHandler(func(*endpoint.Incoming) endpoint.Action {
			running.Store(true)
			close(entered)
			<-leave
			running.Store(false)
			return endpoint.Finished
		})
		if err != nil {
			t.Fatal(err)
		}
		w.wait(a, w.send(a, to, 1, []byte{1}))
		joinPoll := inBackground(t, func() { _ = b.Progress() })
		inBackground(t, func() { <-entered })()
		joinPause := inBackground(t, func() {
			if err := b.Pause(true); err != nil || running.Load() {
				t.Errorf("pause: %v, handler running: %v", err, running.Load())
			}
		})
		time.Sleep(2 * time.Millisecond)
		close(leave)
		joinPause()
		joinPoll()

		// Paused: nothing comes in, and a wait only ends by its timeout.
		_ = b.SetHandler(nil)
		h := w.recv(b, 2, make([]byte, 1))
		w.wait(a, w.send(a, to, 2, []byte{2}))
		var st endpoint.Status
		inBackground(t, func() {
			if ok, err := b.Wait(noContext, h, 20*time.Millisecond, &st); ok || err != nil {
				t.Errorf("wait while paused: %v %v", ok, err)
			}
		})()
		joinWait := inBackground(t, func() { st = w.wait(b, h) })
		time.Sleep(2 * time.Millisecond)
		if err := b.Pause(false); err != nil {
			t.Fatal(err)
		}
		joinWait()
		if st.Code != endpoint.Success {
			t.Error(st.Code)
		}
	})
}

// A handler that blocks does not block calls that need no progress, and nothing
// is lost meanwhile.
func TestBlockedHandler(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		a, b := w.open(wait), w.open(wait)
		to := w.connect(a, 1)
		entered, leave := make(chan struct{}), make(chan struct{})
		first := true
		_ = b.SetHandler(func(*endpoint.Incoming) endpoint.Action {
			if first {
				first = false
				close(entered)
				<-leave
			}
			return endpoint.Continue
		})
		w.wait(a, w.send(a, to, 1, []byte{1}))
		joinPoll := inBackground(t, func() { _ = b.Progress() })
		inBackground(t, func() { <-entered })()
		h := w.recv(b, 2, make([]byte, 1))
		w.wait(a, w.send(a, to, 2, []byte{2}))
		var st endpoint.Status
		inBackground(t, func() {
			if ok, err := b.Wait(noContext, h, 5*time.Millisecond, &st); ok || err != nil {
				t.Errorf("wait beside a blocked handler: %v %v", ok, err)
			}
		})()
		joinWait := inBackground(t, func() { st = w.wait(b, h) })
		time.Sleep(2 * time.Millisecond)
		close(leave)
		joinWait()
		joinPoll()
		if st.Code != endpoint.Success {
			t.Error(st.Code)
		}
		w.wait(b, w.recv(b, 1, make([]byte, 1)))
	})
}

// Close from another goroutine waits for the handler.
func TestCloseWaitsForTheHandler(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		a, b := w.open(wait), w.open(wait)
		to := w.connect(a, 1)
		var left atomic.Bool
		entered := make(chan struct{})
		_ = b.SetHandler(func(*endpoint.Incoming) endpoint.Action {
			close(entered)
			time.Sleep(5 * time.Millisecond)
			left.Store(true)
			return endpoint.Finished
		})
		w.wait(a, w.send(a, to, 1, []byte{1}))
		join := inBackground(t, func() { _ = b.Progress() })
		inBackground(t, func() { <-entered })()
		inBackground(t, func() {
			if err := b.Close(); err != nil || !left.Load() {
				t.Errorf("close: %v, handler had returned: %v", err, left.Load())
			}
		})()
		join()
	})
}

// A wake-up that comes while the waiting caller runs the handler itself ends its wait.
func TestWakeupInsideTheHandler(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		a, b := w.open(wait), w.open(wait)
		to := w.connect(a, 1)
		err := b.SetHandler(func(*endpoint.Incoming) endpoint.Action {
			b.Wakeup()
			return endpoint.Finished
		})
		if err != nil {
			t.Fatal(err)
		}
		for name, call := range map[string]func(st *endpoint.Status) (bool, error){
			"wait any": func(st *endpoint.Status) (bool, error) { return b.WaitAny(noContext, 5, 5, driver.Infinite, st) },
			"wait": func(st *endpoint.Status) (bool, error) {
				return b.Wait(noContext, w.recv(b, 5, nil), driver.Infinite, st)
			},
		} {
			ended := make(chan struct{})
			join := inBackground(t, func() {
				defer close(ended)
				var st endpoint.Status
				if ok, err := call(&st); ok || err != nil {
					t.Errorf("%s: %v, %v", name, ok, err)
				}
			})
			for more := true; more; { // the handler may have run before the call began
				w.wait(a, w.send(a, to, 1, []byte{1}))
				select {
				case <-ended:
					more = false
				case <-time.After(time.Millisecond):
				}
			}
			join()
		}
	})
}
