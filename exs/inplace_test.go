package exs_test

import (
	"math/rand/v2"
	"testing"

	"gomx/exs"
)

// small makes sockets agree on credits and on small packets.
func (w *world) small(credits, size int) func(*exs.Socket) {
	return func(s *exs.Socket) {
		_, err := s.Fcntl(exs.SetFlowControlCredits, credits)
		w.ok(err)
		_, err = s.Fcntl(exs.SetSPMaxSize, size)
		w.ok(err)
	}
}

// Receives in place and others, before and after their packets: all get theirs in order.
func TestInPlace(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		p := w.connect(typ, w.small(8, 1000))
		rng := rand.New(rand.NewPCG(1, 2))
		var user [400][]byte
		var kept [][]byte
		sent, posted, got := 0, 0, 0
		length := func(i int) int { return []int{8, 0, 1000, 40, 1001, 300, 50_000}[i%7] }
		inPlace := map[int]bool{}
		for got < 400 {
			for sent < 400 && sent-got < 6 && rng.IntN(2) == 0 {
				p.send(p.a, p.qa, pattern(length(sent), byte(sent)), exs.Unsignaled)
				sent++
			}
			for posted < 400 && posted-got < 6 && rng.IntN(2) == 0 {
				var flags exs.Flags
				if inPlace[posted] = rng.IntN(3) > 0; inPlace[posted] {
					flags = exs.InPlace
				}
				user[posted] = make([]byte, 60_000)
				_, err := p.b.Recv(user[posted], flags, p.qb, posted, nil)
				p.ok(err)
				posted++
			}
			if got == sent || got == posted {
				continue
			}
			e := p.event(p.qb, exs.EvtRecv, 0)
			i := e.AHandle.(int) // large ones may end later than those behind them
			if n := length(i); e.Length != n || e.AmountLost != 0 {
				w.Fatalf("packet %d of %d bytes: %d, %d lost", i, n, e.Length, e.AmountLost)
			}
			if e.InPlace != (inPlace[i] && e.Length <= 1000) {
				w.Fatalf("packet %d of %d bytes, wanted in place %v: %v", i, e.Length, inPlace[i], e.InPlace)
			}
			p.same(e.Buffer[:e.Length], pattern(e.Length, byte(i)))
			got++
			if !e.InPlace {
				continue
			}
			if kept = append(kept, e.Buffer); len(kept) == 3 {
				i := rng.IntN(len(kept))
				p.ok(p.b.RecycleRcvBuffer(kept[i]))
				kept = append(kept[:i], kept[i+1:]...)
			}
		}
		for _, b := range kept { // no packet comes any more that could lie there next
			p.ok(p.b.RecycleRcvBuffer(b))
			refused(w, p.b.RecycleRcvBuffer(b), exs.EINVAL)
		}
		refused(w, p.b.RecycleRcvBuffer(user[0]), exs.EINVAL)
		p.ok(p.b.BlockingClose())
		refused(w, p.b.RecycleRcvBuffer(user[0]), exs.EBADF)
	})
}

// A packet that came before the first receive in place finds one.
func TestInPlaceAfterItsPacket(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		p := w.connect(typ, w.small(8, 1000))
		for _, n := range []int{0, 40} {
			p.send(p.a, p.qa, pattern(n, 1), exs.Unsignaled)
		}
		p.recv(p.b, p.qb, nil, exs.Peek)
		p.event(p.qb, exs.EvtRecv, 0) // it is here
		for _, n := range []int{0, 40} {
			p.recv(p.b, p.qb, nil, exs.InPlace)
			e := p.event(p.qb, exs.EvtRecv, 0)
			if !e.InPlace || e.AmountLost != 0 {
				w.Fatalf("in place %v, %d lost", e.InPlace, e.AmountLost)
			}
			p.same(e.Buffer, pattern(n, 1))
			p.ok(p.b.RecycleRcvBuffer(e.Buffer))
		}
	})
}

// The peer can send as long as a place is left, and no longer.
func TestPlacesAreCredits(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		const credits = 4
		p := w.connect(typ, w.small(credits, 100))
		var kept [][]byte
		for i := range credits {
			p.send(p.a, p.qa, pattern(50, byte(i)), exs.CreditWait)
			_, err := p.b.Recv(nil, exs.InPlace, p.qb, nil, nil)
			p.ok(err)
			e := p.event(p.qb, exs.EvtRecv, 0)
			p.event(p.qa, exs.EvtSend, 0)
			kept = append(kept, e.Buffer)
		}
		p.send(p.a, p.qa, pattern(50, credits), 0)
		_, err := p.b.Recv(nil, exs.InPlace, p.qb, nil, nil)
		p.ok(err)
		p.none(p.qa)
		p.none(p.qb)
		for i, b := range kept {
			p.same(b, pattern(50, byte(i)))
		}
		p.ok(p.b.RecycleRcvBuffer(kept[2]))
		e := p.event(p.qb, exs.EvtRecv, 0)
		p.same(e.Buffer, pattern(50, credits))
		p.event(p.qa, exs.EvtSend, 0)
	})
}

func TestInPlaceEnds(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		for _, how := range []string{"cancel", "fin", "shut", "reset", "close"} {
			p := w.connect(typ, w.small(4, 100))
			for i := range 2 {
				_, err := p.b.Recv(nil, exs.InPlace, p.qb, i, nil)
				p.ok(err)
			}
			want := exs.Errno(0)
			switch how {
			case "cancel":
				n, err := p.b.Cancel(1, 0)
				p.ok(err)
				if n != 1 {
					w.Fatalf("%d cancelled", n)
				}
				p.event(p.qb, exs.EvtRecv, exs.ECANCELED)
				p.send(p.a, p.qa, []byte("x"), 0)
				p.event(p.qb, exs.EvtRecv, 0)
				continue
			default:
				want = p.endReceivesOfB(how)
			}
			for range 2 {
				if e := p.event(p.qb, exs.EvtRecv, want); e.Length != 0 || e.InPlace {
					w.Errorf("%s: %d bytes", how, e.Length)
				}
			}
		}
	})
}

func TestInPlaceArguments(t *testing.T) {
	w := newWorld(t, "mem")
	p := w.connect(exs.SeqPacket)
	for _, flags := range []exs.Flags{exs.Block, exs.Unsignaled, exs.Peek, exs.Persistent, exs.Notify} {
		_, err := p.a.Recv(make([]byte, 1), exs.InPlace|flags, p.qa, nil, nil)
		refused(w, err, exs.EINVAL)
	}
	_, err := p.a.Send(nil, exs.InPlace, p.qa, nil, nil)
	refused(w, err, exs.EINVAL)
	// Without small packets the flag changes nothing.
	in := make([]byte, 10)
	p.recv(p.b, p.qb, in, exs.InPlace)
	p.send(p.a, p.qa, []byte("word"), 0)
	if e := p.event(p.qb, exs.EvtRecv, 0); e.InPlace || &e.Buffer[0] != &in[0] {
		w.Errorf("in place %v, %d bytes", e.InPlace, e.Length)
	}
	q := w.connect(exs.Stream)
	_, err = q.a.Recv(in, exs.InPlace, q.qa, nil, nil)
	refused(w, err, exs.EOPNOTSUPP)
}
