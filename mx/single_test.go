package mx_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"gomx/mx"
)

func TestSingleThreadedEndpointDoesEverythingInOneGoroutine(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := singlePair(w)
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

// The context ends in another goroutine, which may not touch the endpoint.
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

// singlePair connects two single-threaded endpoints, which must take turns.
func singlePair(w *world) (a, b *mx.Endpoint, toB, toA mx.EndpointAddr) {
	w.Helper()
	a, b = w.open(mx.SingleThreaded()), w.open(mx.SingleThreaded())
	join := func(from, to *mx.Endpoint) (addr mx.EndpointAddr) {
		nic, id := place(w, to)
		r, err := from.Iconnect(nic, id, testFilter, 0, nil)
		if err != nil {
			w.Fatal(err)
		}
		w.until("connected", func() bool {
			st, ok, err := from.Test(r)
			if err != nil || ok && st.Code != mx.StatusSuccess {
				w.Fatal(st.Code, err)
			}
			addr = st.Source
			return ok
		}, to)
		return addr
	}
	return a, b, join(a, b), join(b, a)
}
