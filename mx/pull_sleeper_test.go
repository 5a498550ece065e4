package mx_test

import (
	"testing"
	"time"

	"gomx/mx"
)

// TestPullBesideASleeper posts receives for large messages that wait already, while another goroutine sleeps in the endpoint: the one
// that sleeps copies them, though nothing has arrived. Five tries are enough for one that nothing else delays.
func TestPullBesideASleeper(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		never := w.irecv(b, make([]byte, 8), 99, exact)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _, _ = b.Wait(never, mx.Infinite)
		}()
		for _, size := range []int{300_000, 3_000_000} {
			quickest := bound
			for range 5 {
				send := w.isend(a, make([]byte, size), toB, 1)
				if _, _, err := b.Probe(bound, 1, exact); err != nil {
					w.Fatal(err)
				}
				time.Sleep(20 * time.Millisecond) // the other goroutine falls asleep
				recv := w.irecv(b, make([]byte, size), 1, exact)
				begin := time.Now()
				w.succeed(a, send)
				quickest = min(quickest, time.Since(begin))
				w.succeed(b, recv)
			}
			if quickest > 100*time.Millisecond {
				w.Errorf("%d bytes: the receive waits %v or more for the sleeper", size, quickest)
			}
		}
		if ok, err := b.Cancel(never); !ok || err != nil {
			w.Error(ok, err)
		}
		receive(w, "the sleeper", ended)
	})
}
