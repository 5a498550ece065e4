package mx_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"gomx/mx"
)

// TestHammer uses one pair of endpoints from 16 goroutines at once, in every way
// there is, and checks what arrives.
func TestHammer(t *testing.T) {
	const goroutines = 16
	rounds := 150
	if raceDetector || testing.Short() {
		rounds = 40
	}
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		// An unexpected handler that lets everything pass is in the way as well.
		if err := a.RegisterUnexpCallback(func(any, uint64, int) {}, nil); err != nil {
			w.Fatal(err)
		}
		var all sync.WaitGroup
		done := make(chan struct{})
		for g := range goroutines {
			all.Go(func() {
				h := hammer{id: uint64(g), rng: rand.New(rand.NewPCG(7, uint64(g)))}
				routes := []route{{a, b, toB}, {b, a, toA}, {a, a, a.Addr()}}
				for i := range rounds {
					if err := h.strike(routes[h.rng.IntN(len(routes))], uint64(i)); err != nil {
						t.Errorf("goroutine %d, round %d: %v", g, i, err)
						return
					}
				}
			})
		}
		go func() {
			all.Wait()
			close(done)
		}()
		select {
		case <-done:
		case <-time.After(6 * bound):
			t.Fatal("the hammer hangs")
		}
		for _, ep := range []*mx.Endpoint{a, b} {
			for _, label := range []string{"requests in use", "posted receives", "unexpected messages"} {
				if n := counter(w, ep, label); n != 0 {
					w.Errorf("%v: %d %s are left over", ep, n, label)
				}
			}
		}
	})
}

type route struct {
	from, to *mx.Endpoint
	addr     mx.EndpointAddr
}

type hammer struct {
	id  uint64
	rng *rand.Rand
}

// strike sends one message along the route and receives it.
func (h *hammer) strike(r route, i uint64) error {
	n := sizes[h.rng.IntN(len(sizes))]
	match := h.id<<32 | i
	want, got := pattern(n, byte(match)), make([]byte, n)
	if h.rng.IntN(4) == 0 {
		if err := h.distract(r.to, match|1<<60); err != nil {
			return err
		}
	}
	var recv mx.Request
	var err error
	early := h.rng.IntN(2) == 0
	if early {
		if recv, err = r.to.Irecv(got, match, exact, match); err != nil {
			return err
		}
	}
	send := r.from.Isendv
	if h.rng.IntN(3) == 0 {
		send = r.from.Issendv
	}
	s, err := send(cut(want, 1+h.rng.IntN(5)), r.addr, match, match)
	if err != nil {
		return err
	}
	if !early {
		if _, ok, err := r.to.Probe(bound, match, exact); !ok {
			return fmt.Errorf("probe: not found, %w", orTimeout(err))
		}
		if recv, err = r.to.Irecv(got, match, exact, match); err != nil {
			return err
		}
	}
	if err := h.collect(r.to, recv, match, n); err != nil {
		return fmt.Errorf("receive of %d bytes: %w", n, err)
	}
	if err := h.collect(r.from, s, match, n); err != nil {
		return fmt.Errorf("send of %d bytes: %w", n, err)
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%d bytes arrived changed", n)
	}
	return nil
}

// distract posts a receive and cancels it.
func (h *hammer) distract(ep *mx.Endpoint, match uint64) error {
	r, err := ep.Irecv(nil, match, exact, nil)
	if err != nil {
		return err
	}
	if ok, err := ep.Cancel(r); !ok || err != nil {
		return fmt.Errorf("cancelled %v, %w", ok, orTimeout(err))
	}
	return nil
}

// collect waits for a request in one of several ways.
func (h *hammer) collect(ep *mx.Endpoint, r mx.Request, match uint64, n int) (err error) {
	var st mx.Status
	ok := false
	switch h.rng.IntN(3) {
	case 0:
		st, ok, err = ep.Wait(r, bound)
	case 1:
		for deadline := time.Now().Add(bound); !ok && err == nil && time.Now().Before(deadline); runtime.Gosched() {
			st, ok, err = ep.Test(r)
		}
	default:
		for deadline := time.Now().Add(bound); !ok && err == nil && time.Now().Before(deadline); {
			st, ok, err = ep.Wait(r, 100*time.Microsecond)
		}
	}
	if !ok {
		return orTimeout(err)
	}
	if st.Code != mx.StatusSuccess || st.Context != match || st.MatchInfo != match || int(st.XferLength) != n {
		return fmt.Errorf("%+v", st)
	}
	return nil
}

func orTimeout(err error) error {
	if err == nil {
		return mx.ErrTimeout
	}
	return err
}
