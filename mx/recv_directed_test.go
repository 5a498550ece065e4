package mx_test

import (
	"errors"
	"testing"

	"gomx/mx"
)

// TestIrecvDirected has two peers send messages of the same match information, of all sizes, before and after the receives.
func TestIrecvDirected(t *testing.T) {
	over(t, func(w *world) {
		a, b, c := w.open(), w.open(), w.open()
		toA := map[*mx.Endpoint]mx.EndpointAddr{b: w.connect(b, a), c: w.connect(c, a)}
		from := map[*mx.Endpoint]mx.EndpointAddr{b: w.connect(a, b), c: w.connect(a, c)}
		for _, early := range []bool{false, true} {
			for _, n := range sizes {
				type receive struct {
					r    mx.Request
					buf  []byte
					from *mx.Endpoint
				}
				var all []receive
				post := func() {
					for _, ep := range []*mx.Endpoint{c, b, b, c} {
						buf := make([]byte, n)
						r, err := a.IrecvDirected(buf, from[ep], ep == b, 5, exact, nil)
						if err != nil {
							w.Fatal(err)
						}
						all = append(all, receive{r, buf, ep})
					}
				}
				if !early {
					post()
				}
				var sends []mx.Request
				for _, ep := range []*mx.Endpoint{b, b, c, c} {
					sends = append(sends, w.isend(ep, pattern(n, map[*mx.Endpoint]byte{b: 1, c: 2}[ep]), toA[ep], 5))
				}
				if early {
					if _, found, err := a.Probe(bound, 5, exact); !found || err != nil {
						w.Fatal(found, err)
					}
					post()
				}
				for _, r := range all {
					st, done, err := a.Wait(r.r, bound)
					if !done || err != nil || st.Code != mx.StatusSuccess || st.Source != from[r.from] {
						w.Fatalf("%d bytes: %+v, %v, %v", n, st, done, err)
					}
					w.same(r.buf, pattern(n, map[*mx.Endpoint]byte{b: 1, c: 2}[r.from]))
				}
				for i, s := range sends {
					w.succeed([]*mx.Endpoint{b, b, c, c}[i], s)
				}
			}
		}
		waits, err := a.IrecvDirected(make([]byte, 1), from[b], false, 6, exact, nil)
		if err != nil {
			w.Fatal(err)
		}
		ends, err := a.IrecvvDirected([][]byte{make([]byte, 1)}, from[b], true, 7, exact, nil)
		if err != nil {
			w.Fatal(err)
		}
		b.Close()
		if st, done, err := a.Wait(ends, bound); !done || err != nil || st.Code == mx.StatusSuccess {
			w.Errorf("tied: %+v, %v, %v", st, done, err)
		}
		if gone, err := a.Cancel(waits); !gone || err != nil {
			w.Errorf("not tied: %v, %v", gone, err)
		}
		if _, err := a.IrecvDirected(nil, toA[c], false, 6, exact, nil); !errors.Is(err, mx.ErrBadEndpoint) {
			w.Errorf("another endpoint's address: %v", err)
		}
		if _, err := a.IrecvDirected(nil, mx.EndpointAddr{}, false, 6, exact, nil); !errors.Is(err, mx.ErrBadAddrList) {
			w.Errorf("no address: %v", err)
		}
		if _, err := a.IrecvDirected(nil, from[c], false, 6, 1, nil); !errors.Is(err, mx.ErrBadMatchMask) {
			w.Errorf("mask: %v", err)
		}
	})
}
