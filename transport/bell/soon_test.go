//go:build linux

package bell

import (
	"os"
	"sync/atomic"
	"testing"
	"time"
)

// startPoller has Go's network poller open its descriptors, which stay.
func startPoller(t *testing.T) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	w.Close()
}

// TestSoon has bells ask again and again, from many goroutines and in the functions themselves: each request is followed by a call, and the
// last bell that closes takes the descriptor with it.
func TestSoon(t *testing.T) {
	startPoller(t)
	before := descriptors(t)
	for range 3 {
		var bells [4]*Bell
		for i := range bells {
			b, err := New()
			if err != nil {
				t.Fatal(err)
			}
			bells[i] = b
		}
		done := make(chan struct{})
		for _, b := range bells {
			go func() {
				called := make(chan struct{}, 1)
				f := func() {
					select {
					case called <- struct{}{}:
					default:
					}
				}
				for range 200 {
					b.Soon(f)
					b.Soon(f) // which may be one with the first
					<-called
				}
				done <- struct{}{}
			}()
		}
		for range bells {
			<-done
		}
		for _, b := range bells {
			b.Close()
		}
	}
	for end := time.Now().Add(10 * time.Second); descriptors(t) > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d descriptors, %d before", descriptors(t), before)
		}
	}
}

// TestSoonAfterClose wants nothing to be called for a bell that is closed, and those of others to go on.
func TestSoonAfterClose(t *testing.T) {
	closed, err := New()
	if err != nil {
		t.Fatal(err)
	}
	open, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	closed.Close()
	var calls atomic.Int32
	closed.Soon(func() { calls.Add(1) })
	for range 3 {
		called := make(chan struct{})
		open.Soon(func() { close(called) })
		<-called
	}
	if calls.Load() != 0 {
		t.Error("a closed bell calls")
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}
