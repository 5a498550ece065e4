package exs_test

import (
	"bytes"
	"testing"

	"gomx/exs"
)

// A look shows what the next receive behind it gets, also if that receive was posted before the data came.
func TestPeekBeforeReceive(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		for _, n := range []int{10, 100_000} {
			p := w.connect(typ)
			const rounds = 3
			var looks, in [rounds][]byte
			for i := range rounds {
				looks[i], in[i] = make([]byte, n), make([]byte, n)
				p.recv(p.b, p.qb, looks[i], exs.Peek)
				p.recv(p.b, p.qb, in[i], exs.WaitAll)
			}
			for i := range rounds {
				p.send(p.a, p.qa, pattern(n, byte(i)), 0)
			}
			var lengths [rounds]int // of the looks, which on a stream show what there is
			for i := range 2 * rounds {
				if e := p.event(p.qb, exs.EvtRecv, 0); i%2 == 0 {
					lengths[i/2] = e.Length
				}
			}
			for i := range rounds {
				p.same(in[i], pattern(n, byte(i)))
				p.same(looks[i][:lengths[i]], in[i][:lengths[i]])
				if lengths[i] == 0 || typ == exs.SeqPacket && lengths[i] != n {
					w.Errorf("look %d shows %d bytes of %d", i, lengths[i], n)
				}
			}
			w.ok(p.a.BlockingClose())
			w.ok(p.b.BlockingClose())
		}
	})
}

// TestLine has receives, looks and receives in place posted in an order, and then packets of all sizes come. Each look shows the
// packet of the receive behind it.
func TestLine(t *testing.T) {
	const plain, look, inPlace = 0, exs.Peek, exs.InPlace
	orders := [][]exs.Flags{
		{plain, look, plain, plain},
		{look, look, plain, look, inPlace},
		{inPlace, look, inPlace, plain, look},
		{look, inPlace, inPlace, look, plain},
		{plain, inPlace, look, look, plain, inPlace},
	}
	over(t, packets, func(w *world, _ int) {
		for _, order := range orders {
			for _, sizes := range [][]int{{10, 20}, {0, 100_000}, {30_000, 0}, {100_000, 200_000}} {
				p := w.connect(exs.SeqPacket, w.small(8, 1000))
				receives := 0
				in := make([][]byte, len(order))
				for i, flags := range order {
					in[i] = make([]byte, 200_000)
					_, err := p.b.Recv(in[i], flags, p.qb, i, nil)
					p.ok(err)
					if flags != look {
						receives++
					}
				}
				for k := range receives + 1 { // one more, for a look at the end
					p.send(p.a, p.qa, pattern(sizes[k%2], byte(k)), 0)
				}
				got := make([]exs.Event, len(order))
				for range order {
					e := p.event(p.qb, exs.EvtRecv, 0)
					got[e.AHandle.(int)] = e
				}
				k := 0
				for i, flags := range order {
					want := pattern(sizes[k%2], byte(k))
					if b := got[i].Buffer[:got[i].Length]; !bytes.Equal(b, want) {
						w.Errorf("%v, sizes %v: operation %d has %d bytes that are not those of packet %d", order, sizes, i, len(b), k)
					}
					if flags != look {
						k++
					}
					if got[i].InPlace {
						p.ok(p.b.RecycleRcvBuffer(got[i].Buffer))
					}
				}
				w.ok(p.a.Close(exs.Block|exs.DontLinger, nil, nil))
				w.ok(p.b.Close(exs.Block|exs.DontLinger, nil, nil))
			}
		}
	})
}

// What stands behind a look ends with the connection, and goes on without the look if that is cancelled.
func TestLineEnds(t *testing.T) {
	over(t, packets, func(w *world, _ int) {
		for _, how := range []string{"cancel", "cancel all", "fin", "shut", "reset", "close"} {
			p := w.connect(exs.SeqPacket)
			in := make([]byte, 10)
			for i, flags := range []exs.Flags{exs.Peek, 0, exs.Peek, 0} {
				_, err := p.b.Recv(in, flags, p.qb, i, nil)
				p.ok(err)
			}
			var want exs.Errno
			switch how {
			case "cancel":
				n, err := p.b.Cancel(0, 0)
				if n != 1 || err != nil {
					w.Errorf("%d cancelled, %v", n, err)
				}
				p.event(p.qb, exs.EvtRecv, exs.ECANCELED)
				for _, text := range []string{"one", "two"} {
					p.send(p.a, p.qa, []byte(text), 0)
				}
				for i, text := range []string{"one", "two", "two"} {
					e := p.event(p.qb, exs.EvtRecv, 0)
					if e.AHandle != i+1 || e.Length != len(text) {
						w.Errorf("event %d is of operation %v, with %d bytes", i, e.AHandle, e.Length)
					}
				}
				continue
			case "cancel all":
				want = exs.ECANCELED
				n, err := p.b.Cancel(nil, exs.CancelAll)
				if n != 4 || err != nil {
					w.Errorf("%d cancelled, %v", n, err)
				}
			default:
				want = p.endReceivesOfB(how)
			}
			for range 4 {
				if e := p.event(p.qb, exs.EvtRecv, want); e.Length != 0 {
					w.Errorf("%s: %d bytes", how, e.Length)
				}
			}
		}
	})
}

// Persistent memory of the peer's is no packet: a look waits on, and the receive behind it reads there.
func TestLookBesidePersistentMemory(t *testing.T) {
	over(t, packets, func(w *world, _ int) {
		p := w.connect(exs.SeqPacket)
		field, shown, in := pattern(1000, 1), make([]byte, 10), make([]byte, 1000)
		_, err := p.b.Recv(shown, exs.Peek, p.qb, "look", nil)
		p.ok(err)
		_, err = p.b.Recv(in, 0, p.qb, "receive", nil)
		p.ok(err)
		_, err = p.a.Send(field, exs.Persistent, p.qa, "field", nil)
		p.ok(err)
		if e := p.event(p.qb, exs.EvtRecv, 0); e.AHandle != "receive" || e.Length != len(in) {
			w.Errorf("%v has got %d bytes", e.AHandle, e.Length)
		}
		p.same(in, field)
		_, err = p.a.Cancel("field", 0)
		p.ok(err)
		p.event(p.qa, exs.EvtSend, exs.ECANCELED)
		p.send(p.a, p.qa, []byte("word"), 0)
		if e := p.event(p.qb, exs.EvtRecv, 0); e.AHandle != "look" || string(shown[:e.Length]) != "word" {
			w.Errorf("%v has got %q", e.AHandle, shown[:e.Length])
		}
		p.gets([]byte("word"))
	})
}
