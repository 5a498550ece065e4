package exs_test

import (
	"io"
	"testing"

	"gomx/exs"
)

var sizes = []int{0, 1, 8, 40, 1023, 1024, 8192, 40_000, 300_000}

func TestPacketsWithReceivesPosted(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		p := w.connect(typ)
		for i, n := range sizes {
			out, in := pattern(n, byte(i)), make([]byte, n+10)
			p.recv(p.b, p.qb, in, 0)
			p.send(p.a, p.qa, out, 0)
			e := p.event(p.qb, exs.EvtRecv, 0)
			if e.Length != n || e.AmountLost != 0 || e.Socket != p.b {
				t.Fatalf("%+v", e)
			}
			p.same(in[:n], out)
			if e := p.event(p.qa, exs.EvtSend, 0); e.Length != n || len(e.Buffer) != n {
				t.Fatalf("%+v", e)
			}
		}
		p.ok(p.a.BlockingClose())
		p.ok(p.b.BlockingClose())
	})
}

func TestPacketsBeforeReceives(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		p := w.connect(typ)
		for i, n := range sizes {
			p.send(p.a, p.qa, pattern(n, byte(i)), 0)
		}
		for i, n := range sizes {
			in := make([]byte, n)
			got, err := p.b.Recv(in, exs.Block, nil, nil, nil)
			p.ok(err)
			if got != n {
				t.Fatalf("packet %d: %d bytes", i, got)
			}
			p.same(in, pattern(n, byte(i)))
		}
		for range sizes {
			p.event(p.qa, exs.EvtSend, 0)
		}
	})
}

// TestEmptyPacketsAtTheEnd: an empty packet is not the end, also if the end is known when it is read.
func TestEmptyPacketsAtTheEnd(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		p := w.connect(typ)
		for range 3 {
			_, err := p.a.Write(nil)
			p.ok(err)
		}
		p.ok(p.a.BlockingClose())
		in := make([]byte, 10)
		for i := range 3 {
			if n, err := p.b.Read(in); n != 0 || err != nil {
				w.Errorf("packet %d: %d bytes, %v", i, n, err)
			}
		}
		for range 2 {
			if n, err := p.b.Read(in); n != 0 || err != io.EOF {
				w.Errorf("after the last: %d bytes, %v", n, err)
			}
		}
		p.ok(p.b.BlockingClose())
	})
}

// TestNoRoom receives into nothing.
func TestNoRoom(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		p := w.connect(typ)
		for _, n := range []int{0, 1, 5000, 300_000} {
			p.recv(p.b, p.qb, nil, 0)
			p.send(p.a, p.qa, make([]byte, n), 0)
			if e := p.event(p.qb, exs.EvtRecv, 0); e.Length != 0 || e.AmountLost != n {
				w.Errorf("%d bytes: %d, %d lost", n, e.Length, e.AmountLost)
			}
			p.event(p.qa, exs.EvtSend, 0)
		}
	})
}

func TestPacketsAreCut(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		p := w.connect(typ)
		for _, posted := range []bool{true, false} {
			for i, n := range []int{100, 5000, 300_000} {
				in := make([]byte, 60)
				if posted {
					p.recv(p.b, p.qb, in, 0)
				}
				p.send(p.a, p.qa, pattern(n, byte(i)), 0)
				if !posted {
					p.recv(p.b, p.qb, in, 0)
				}
				if e := p.event(p.qb, exs.EvtRecv, 0); e.Length != 60 || e.AmountLost != n-60 {
					t.Errorf("%d bytes: %d and %d lost", n, e.Length, e.AmountLost)
				}
				p.same(in, pattern(n, byte(i))[:60])
				if e := p.event(p.qa, exs.EvtSend, 0); e.Length != n {
					t.Errorf("%d of %d bytes sent", e.Length, n)
				}
			}
		}
	})
}

// TestManyPackets sends more than all windows hold.
func TestManyPackets(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		for _, credits := range []int{1, 3, 32} {
			p := w.connect(typ, func(s *exs.Socket) {
				_, err := s.Fcntl(exs.SetFlowControlCredits, credits)
				w.ok(err)
			})
			const count = 3000
			go func() {
				for i := range count {
					b := pattern(8, byte(i))
					if _, err := p.a.Send(b, exs.CreditWait|exs.Unsignaled, nil, nil, nil); err != nil {
						t.Error(err)
						return
					}
				}
			}()
			in := make([]byte, 16)
			for i := range count {
				n, err := p.b.Recv(in, exs.Block, nil, nil, nil)
				p.ok(err)
				p.same(in[:n], pattern(8, byte(i)))
			}
		}
	})
}

func TestCredits(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		p := w.connect(typ, func(s *exs.Socket) {
			_, err := s.Fcntl(exs.SetFlowControlCredits, 3)
			w.ok(err)
		})
		in := make([]byte, 10)
		for range 3 {
			p.recv(p.b, p.qb, in, 0)
		}
		_, err := p.b.Recv(in, 0, p.qb, nil, nil)
		refused(w, err, exs.EBUSY)
		p.none(p.qb)
		big, sent := make([]byte, 4<<20), 0
		for err = nil; err == nil && sent < 100; sent++ {
			_, err = p.b.Send(big, 0, p.qb, nil, nil)
		}
		refused(w, err, exs.EBUSY)
		if sent--; sent > 2*3 { // as many as may be outstanding, and as many as may be ahead of their receives
			w.Errorf("%d sends", sent)
		}
		room := make([]byte, len(big))
		for got := 0; got < sent*len(big); {
			n, err := p.a.Recv(room, exs.Block, nil, nil, nil)
			p.ok(err)
			got += n
		}
		for range sent {
			p.event(p.qb, exs.EvtSend, 0)
		}
		p.send(p.b, p.qb, in, exs.CreditWait)
		p.event(p.qb, exs.EvtSend, 0)
	})
}
