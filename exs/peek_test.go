package exs_test

import (
	"fmt"
	"testing"

	"gomx/exs"
)

// Looks and receives have their packets in the order in which they were started: a look sees what the next receive gets,
// whether it has come before or not.
func TestLooksInOrder(t *testing.T) {
	const most = 1000 // bytes of a small packet
	over(t, packets, func(w *world, typ int) {
		for _, order := range []string{"pr", "rpr", "prpr", "pprr", "rprpp", "pi", "ipi", "ipr", "pirpi", "prip"} {
			for _, size := range []int{10, 100_000} {
				for ahead := range 3 { // packets that come before the operations
					p := w.connect(typ, func(s *exs.Socket) { w.ok(second(s.Fcntl(exs.SetSPMaxSize, most))) })
					name := fmt.Sprintf("%s, %d bytes, %d before", order, size, ahead)
					send := func(from, to int) {
						for i := from; i < to; i++ {
							p.send(p.a, p.qa, pattern(size, byte(i)), 0)
						}
					}
					send(0, ahead)
					var want []int
					next := 0
					for i, c := range order {
						flags := map[rune]exs.Flags{'p': exs.Peek, 'r': 0, 'i': exs.InPlace}[c]
						_, err := p.b.Recv(make([]byte, size), flags, p.qb, i, nil)
						w.ok(err)
						if want = append(want, next); c != 'p' {
							next++
						}
					}
					send(ahead, max(next+1, ahead)) // the last look may be behind all receives
					for range order {
						e := p.event(p.qb, exs.EvtRecv, 0)
						if i := e.AHandle.(int); e.Length != size || string(e.Buffer[:e.Length]) != string(pattern(size, byte(want[i]))) {
							w.Errorf("%s: operation %d has %d bytes that are not packet %d", name, i, e.Length, want[i])
						}
						if e.InPlace {
							w.ok(p.b.RecycleRcvBuffer(e.Buffer))
						}
					}
					w.ok(p.a.Close(exs.DontLinger|exs.Block, nil, nil))
					w.ok(p.b.Close(exs.DontLinger|exs.Block, nil, nil))
				}
			}
		}
	})
}

// A receive goes on when the look before it is taken back, and ends with it.
func TestReceiveBehindALook(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		p := w.connect(typ)
		look := func(what string) {
			w.ok(second(p.b.Recv(make([]byte, 9), exs.Peek, p.qb, what, nil)))
			w.ok(second(p.b.Recv(make([]byte, 9), 0, p.qb, "receive", nil)))
		}
		look("taken back")
		if n, err := p.b.Cancel("taken back", 0); n != 1 || err != nil {
			w.Error(n, err)
		}
		p.event(p.qb, exs.EvtRecv, exs.ECANCELED)
		p.send(p.a, p.qa, []byte("packet"), 0)
		if e := p.event(p.qb, exs.EvtRecv, 0); e.AHandle != "receive" || string(e.Buffer[:e.Length]) != "packet" {
			w.Errorf("%v: %q", e.AHandle, e.Buffer[:e.Length])
		}
		look("to the end")
		w.ok(p.a.BlockingClose())
		for range 2 {
			if e := p.event(p.qb, exs.EvtRecv, 0); e.Length != 0 {
				w.Errorf("%v: %q", e.AHandle, e.Buffer[:e.Length])
			}
		}
		w.ok(p.b.BlockingClose())
	})
}
