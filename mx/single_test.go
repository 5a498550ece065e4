package mx_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mx"
)

func TestSingleThreadedEndpointDoesEverythingInOneGoroutine(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair(mx.SingleThreaded())
		for _, n := range sizes {
			recv := w.irecv(b, make([]byte, n), 1, exact)
			send := w.issend(a, pattern(n, 0), toB, 1)
			var sent, received bool
			w.until("both are complete", func() bool {
				if !received {
					_, received, _ = b.Test(recv)
				}
				if !sent {
					_, sent, _ = a.Test(send)
				}
				return sent && received
			})
		}
		if _, ok, err := b.Probe(1, 0, everything); ok || err != nil {
			w.Error(ok, err)
		}
	})
}

// The other side's large messages arrive while this one makes no call.
func TestSingleThreadedEndpointProgressesBetweenCalls(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair(mx.SingleThreaded())
		for i := range uint64(3) {
			want, got := pattern(300_000, byte(i)), make([]byte, 300_000)
			recv := w.irecv(b, got, i, exact)
			w.succeed(a, w.issend(a, want, toB, i))
			w.succeed(b, recv)
			w.same(got, want)
		}
	})
}

// The context ends in another goroutine.
func TestSingleThreadedEndpointWaitsUntilItsContextEnds(t *testing.T) {
	for name, spin := range map[string]time.Duration{"sleeping": 0, "spinning": 20 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			over(t, func(w *world) {
				a := w.open(mx.SingleThreaded(), mx.WithSpin(spin))
				recv := w.irecv(a, nil, 1, exact)
				for range 3 {
					ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
					if _, err := a.WaitContext(ctx, recv); !errors.Is(err, context.DeadlineExceeded) {
						w.Error(err)
					}
					cancel()
				}
				w.isend(a, nil, a.Addr(), 1)
				w.succeed(a, recv)
			})
		})
	}
}

// What changes no request comes from any goroutine while the one makes requests; after Share they come from any.
func TestSingleThreadedEndpointHasForeignCallers(t *testing.T) {
	testlength.Long(t)
	over(t, func(w *world) {
		a, b, toB, _ := w.pair(mx.SingleThreaded())
		gone := w.open() // which nobody minds if it is given up
		toGone := w.connect(b, gone)
		var over atomic.Bool
		var foreign sync.WaitGroup
		foreign.Go(func() {
			for !over.Load() {
				_ = b.GiveUp(toGone)
			}
		})
		for range 2 {
			foreign.Go(func() {
				for !over.Load() {
					b.Wakeup()
					_, _, _ = b.Pending(), b.Counters(), b.Addr().String()
				}
			})
		}
		for i := range uint64(300) {
			n := sizes[i%uint64(len(sizes))]
			want, got := pattern(n, byte(i)), make([]byte, n)
			recv, send := w.irecv(b, got, i, exact), w.isend(a, want, toB, i)
			for done := false; !done; {
				st, ok, err := b.Wait(recv, bound)
				if err != nil || ok && st.Code != mx.StatusSuccess {
					w.Fatal(i, st.Code, err)
				}
				done = ok
			}
			w.succeed(a, send)
			w.same(got, want)
		}
		over.Store(true)
		foreign.Wait()
		a.Share()
		b.Share()
		var callers sync.WaitGroup
		for g := range uint64(4) {
			callers.Go(func() {
				for i := range uint64(100) {
					recv, err := b.Irecv(make([]byte, 8), g<<32|i, exact, nil)
					send, late := a.Isend(make([]byte, 8), toB, g<<32|i, nil)
					if err := errors.Join(err, late); err != nil {
						w.Error(err)
						return
					}
					_, received, err := b.Wait(recv, bound)
					_, sent, late := a.Wait(send, bound)
					if !received || !sent {
						w.Error(g, i, err, late)
						return
					}
				}
			})
		}
		callers.Wait()
	})
}
