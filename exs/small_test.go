package exs_test

import (
	"testing"

	"gomx/exs"
)

// smallUpTo makes sockets agree on small packets.
func smallUpTo(t testing.TB, n int) func(*exs.Socket) {
	return func(s *exs.Socket) {
		if _, err := s.Fcntl(exs.SetSPMaxSize, n); err != nil {
			t.Fatal(err)
		}
	}
}

// Packets of all kinds arrive in order, whichever way each of them goes.
func TestSmallPacketsInOrder(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		p := w.connect(typ, smallUpTo(w, 1000))
		m, err := w.here.Register(make([]byte, 1000), 0)
		w.ok(err)
		for round := range 3 {
			for i, n := range sizes {
				out := pattern(n, byte(i))
				if round == 0 && n <= 1000 {
					copy(m.Bytes(), out)
					_, err := p.a.Send(m.Bytes()[:n], 0, p.qa, i, m)
					w.ok(err)
				} else {
					_, err := p.a.Send(out, 0, p.qa, i, nil)
					w.ok(err)
				}
				in := make([]byte, n)
				got, err := p.b.Recv(in, exs.Block, nil, nil, nil)
				w.ok(err)
				w.same(in[:got], out)
				e := w.event(p.qa, exs.EvtSend, 0)
				if e.AHandle != i || e.Length != n || e.Socket != p.a || len(e.Buffer) != n {
					t.Fatalf("%+v", e)
				}
			}
		}
		w.ok(m.Deregister(0))
	})
}

// More packets than the window has, sent before a receive: they wait in order, and a
// buffer may change as soon as the event is there.
func TestSmallPacketsBeyondTheWindow(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		p := w.connect(typ, smallUpTo(w, 100), func(s *exs.Socket) {
			_, err := s.Fcntl(exs.SetFlowControlCredits, 3)
			w.ok(err)
		})
		const count = 50
		sent := make(chan error, 1)
		go func() {
			buf := make([]byte, 20)
			for i := range count {
				copy(buf, pattern(20, byte(i)))
				if _, err := p.a.Send(buf, exs.Block, nil, nil, nil); err != nil {
					sent <- err
					return
				}
				clear(buf)
			}
			sent <- nil
		}()
		for i := range count {
			in := make([]byte, 30)
			n, err := p.b.Recv(in, exs.Block, nil, nil, nil)
			w.ok(err)
			w.same(in[:n], pattern(20, byte(i)))
		}
		w.ok(<-sent)
	})
}

func TestSmallPacketsThatMakeNoSense(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		p := w.connect(typ, smallUpTo(w, 100))
		b := make([]byte, 10)
		_, err := p.a.Send(b, 0, nil, nil, nil)
		refused(w, err, exs.EINVAL) // where would the event go
		_, err = p.a.Send(b, exs.WaitAll, p.qa, nil, nil)
		refused(w, err, exs.EINVAL)
		gone := w.queue(w.here)
		w.ok(gone.Delete())
		_, err = p.a.Send(b, 0, gone, nil, nil)
		refused(w, err, exs.EINVAL)
		p.send(p.a, p.qa, b, exs.Unsignaled)
		p.send(p.a, nil, b, exs.Unsignaled)
		n, err := p.a.SendMsg([][]byte{b[:4], b[4:]}, exs.Block, nil, nil, nil) // is none of them
		if n != len(b) || err != nil {
			t.Error(n, err)
		}
		w.none(p.qa)
		w.ok(p.a.Shutdown(exs.ShutWR, exs.Block, nil, nil))
		_, err = p.a.Send(b, 0, p.qa, nil, nil)
		refused(w, err, exs.EPIPE)
		for range 3 {
			if n, err := p.b.Recv(b, exs.Block, nil, nil, nil); n != len(b) || err != nil {
				t.Error(n, err)
			}
		}
		if n, err := p.b.Recv(b, exs.Block, nil, nil, nil); n != 0 || err != nil {
			t.Error(n, err)
		}
	})
}

// Calls that block, to and fro: they allocate nothing, whether they sleep or not.
func TestBlockingCallsDoNotAllocate(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates by itself")
	}
	for name, prepare := range map[string]func(*exs.Socket){
		"normal": func(*exs.Socket) {},
		"small":  smallUpTo(t, 100),
		"spins":  func(s *exs.Socket) { _, _ = s.Fcntl(exs.SetFD, exs.FDBusyPoll) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, medium := range []string{"shm", "mem"} {
				p := newWorld(t, medium).connect(exs.SeqPacket, prepare)
				buf := make([]byte, 8)
				from, to := p.a, p.b
				round := func() {
					if _, err := from.Send(buf, exs.Unsignaled|exs.CreditWait, nil, nil, nil); err != nil {
						t.Fatal(err)
					}
					if n, err := to.Recv(buf, exs.Block, nil, nil, nil); n != len(buf) || err != nil {
						t.Fatal(n, err)
					}
					from, to = to, from
				}
				for range 100 {
					round()
				}
				if n := testing.AllocsPerRun(500, round); n != 0 {
					t.Errorf("%s: %v allocations a message", medium, n)
				}
			}
		})
	}
}
