package mx_test

import (
	"errors"
	"strings"
	"testing"

	"gomx/mx"
)

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// TestCountedSendsAndReceives has counters count what their own methods start, of all sizes, before and after the other side.
func TestCountedSendsAndReceives(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		sent, came := w.counter(a), w.counter(b)
		const n = 40
		bufs := make([][]byte, n)
		for i := range uint64(n) {
			bufs[i] = make([]byte, 10_000*(i/4))
			data := pattern(len(bufs[i]), byte(i))
			recv := func() { w.must(came.Irecv(bufs[i], i, exact)) }
			send := func() { w.must(sent.Isend(data, toB, i)) }
			if i%2 == 0 {
				recv()
				send()
				continue
			}
			send()
			if _, found, err := b.Probe(bound, i, exact); !found || err != nil {
				w.Fatal(found, err)
			}
			recv()
		}
		w.counts(came, n, 0)
		w.counts(sent, n, 0)
		w.patterns(bufs)
		w.nothingLeft(a, b)
	})
}

// A message to oneself is counted twice, and triggers what waits for that.
func TestCountedToOneself(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		c, in := w.counter(a), make([]byte, 3)
		got := w.irecv(b, make([]byte, 3), 2, exact)
		w.must(c.Irecv(in, 1, exact))
		triggered, err := c.At(2).Isend(in, toB, 2, nil)
		w.must(err)
		w.pending(a, triggered)
		w.must(c.Isend([]byte("abc"), a.Addr(), 1))
		w.succeed(b, got)
		w.succeed(a, triggered)
		w.same(in, []byte("abc"))
		w.counts(c, 2, 0)
	})
}

func TestCountedFailures(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		sent, came := w.counter(a), w.counter(b)
		w.must(came.Irecv(make([]byte, 3), 1, exact))
		w.must(sent.Isend(make([]byte, 5), toB, 1))
		w.counts(came, 0, 1) // truncated
		w.counts(sent, 1, 0)
		w.must(sent.Isend(make([]byte, 1<<20), toB, 2)) // which nobody receives
		if list := a.Pending(); len(list) != 1 || !strings.Contains(list[0].String(), "0x2") {
			w.Errorf("pending: %v", list)
		}
		w.must(b.Disconnect(toA))
		w.counts(sent, 1, 1)
		w.must(sent.Isend(nil, toB, 3)) // the session is over
		w.counts(sent, 1, 2)
	})
}

func TestCountedCallsThatAreRefused(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		c := w.counter(a)
		refused := func(err, want error, says ...string) {
			w.Helper()
			if !errors.Is(err, want) {
				w.Errorf("%v, want %v", err, want)
				return
			}
			for _, s := range says {
				if !strings.Contains(err.Error(), s) {
					w.Errorf("%v: does not say %q", err, s)
				}
			}
		}
		refused(c.Isend(nil, toA, 1), mx.ErrBadEndpoint, "counted isend to", toA.String())
		refused(c.Isend(nil, mx.EndpointAddr{}, 1), mx.ErrBadAddrList, "counted isend to")
		refused(c.Irecv(nil, 3, 1), mx.ErrBadMatchMask, "counted irecv")
		if s, f, err := c.Value(); s+f != 0 || err != nil {
			w.Errorf("what was refused was counted: %d, %d, %v", s, f, err)
		}
		in := w.irecv(b, nil, 4, exact)
		w.must(c.Irecv(make([]byte, 1), 5, exact))
		c.Close()
		refused(c.Isend(nil, toB, 4), mx.ErrBadEndpoint, "the counter is closed", toB.String())
		refused(c.Irecv(nil, 1, exact), mx.ErrBadEndpoint, "the counter is closed")
		w.pending(b, in)
		w.isend(b, []byte{1}, toA, 5) // to the receive whose counter is closed: it goes on
		w.until("the receive is over", func() bool { return len(a.Pending()) == 0 })
		w.must(a.Close())
		refused(c.Irecv(nil, 1, exact), mx.ErrBadEndpoint)
		refused(c.Isend(nil, toB, 4), mx.ErrBadEndpoint)
	})
}
