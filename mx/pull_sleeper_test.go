package mx_test

import (
	"testing"
	"time"

	"gomx/mx"
)

// TestPullBesideASleeper posts receives for large messages that wait already, while another goroutine sleeps in the endpoint: the one
// that sleeps copies them, though nothing has arrived. On a busy machine something else may delay it: one quick try of many is enough.
func TestPullBesideASleeper(t *testing.T) {
	const quick = 100 * time.Millisecond
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
			for tries := 0; quickest > quick && tries < 20; tries++ {
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
			if quickest > quick {
				w.Errorf("%d bytes: the receive waits %v or more for the sleeper", size, quickest)
			}
		}
		if ok, err := b.Cancel(never); !ok || err != nil {
			w.Error(ok, err)
		}
		receive(w, "the sleeper", ended)
	})
}
