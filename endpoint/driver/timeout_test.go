package driver_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/internal/testlength"
	"gomx/transport/mem"
)

// A call of every blocking kind that nothing satisfies returns when its time is
// up, without a result and without an error.
func TestTimeouts(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		d := w.open(wait)
		h := w.recv(d, 1, nil)
		for name, call := range blockingCalls(d, h) {
			begin := time.Now()
			ok, err := false, error(nil)
			join := inBackground(t, func() { ok, err = call(noContext, 30*time.Millisecond) })
			join()
			if ok || err != nil {
				t.Errorf("%s: %v %v", name, ok, err)
			}
			if took := time.Since(begin); took < 30*time.Millisecond {
				t.Errorf("%s: returned after %v", name, took)
			}
		}
	})
}

type blockingCall func(ctx context.Context, timeout time.Duration) (bool, error)

func blockingCalls(d *driver.Endpoint, h endpoint.Handle) map[string]blockingCall {
	return map[string]blockingCall{
		"wait": func(ctx context.Context, timeout time.Duration) (bool, error) {
			var st endpoint.Status
			return d.Wait(ctx, h, timeout, &st)
		},
		"wait any": func(ctx context.Context, timeout time.Duration) (bool, error) {
			var st endpoint.Status
			return d.WaitAny(ctx, 0, 0, timeout, &st)
		},
		"peek": func(ctx context.Context, timeout time.Duration) (bool, error) {
			_, ok, err := d.Peek(ctx, timeout)
			return ok, err
		},
		"probe": func(ctx context.Context, timeout time.Duration) (bool, error) {
			var st endpoint.Status
			return d.Probe(ctx, 0, 0, timeout, &st)
		},
	}
}

// A context that ends takes the call with it, whenever it ends: before, while the
// caller spins, or while it sleeps.
func TestContextEnds(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		d := w.open(wait)
		h := w.recv(d, 1, nil)
		for name, call := range blockingCalls(d, h) {
			for _, after := range []time.Duration{0, 5 * time.Microsecond, 20 * time.Microsecond, 60 * time.Microsecond, 3 * time.Millisecond} {
				ctx, cancel := context.WithCancel(context.Background())
				time.AfterFunc(after, cancel)
				var err error
				inBackground(t, func() { _, err = call(ctx, driver.Infinite) })()
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%s, cancelled after %v: %v", name, after, err)
				}
				cancel()
			}
		}
	})
}

func TestContextDeadline(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		d := w.open(wait)
		h := w.recv(d, 1, nil)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		var err error
		inBackground(t, func() { _, err = d.Wait(ctx, h, driver.Infinite, new(endpoint.Status)) })()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("wait: %v", err)
		}
	})
}

// Waits whose time runs out at the moment the message comes neither lose the
// completion nor report it twice.
func TestTimeoutLosesNothing(t *testing.T) {
	testlength.Long(t)
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		a, b := w.open(wait), w.open(wait)
		to := w.connect(a, 1)
		for i := range 200 {
			h := w.recv(b, uint64(i), make([]byte, 8))
			join := inBackground(t, func() {
				time.Sleep(time.Duration(i%7) * 50 * time.Microsecond)
				w.wait(a, w.send(a, to, uint64(i), []byte("12345678")))
			})
			var st endpoint.Status
			tries, ok := 0, false
			for end := time.Now().Add(patience); !ok && time.Now().Before(end); tries++ {
				var err error
				if ok, err = b.Wait(noContext, h, 50*time.Microsecond, &st); err != nil {
					t.Fatal(i, err)
				}
			}
			join()
			if !ok || st.Match != uint64(i) || st.XferLength != 8 {
				t.Fatalf("round %d: %v after %d tries, %+v", i, ok, tries, st)
			}
			if _, err := b.Wait(noContext, h, 0, &st); err == nil {
				t.Fatalf("round %d: collected twice", i)
			}
		}
	})
}
