package exs_test

import (
	"testing"
	"time"

	"gomx/exs"
)

// TestCancelOfAConnect: what Cancel counts ends with ECANCELED, at whatever moment it comes, and such a socket can connect again. What
// it does not count is connected.
func TestCancelOfAConnect(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		l, addr := w.listener(typ)
		go func() {
			for {
				s, _, err := l.BlockingAccept()
				if err != nil {
					return
				}
				go func() {
					_, _ = s.BlockingRecv(make([]byte, 1), 0, nil)
					_ = s.BlockingClose()
				}()
			}
		}()
		q, events := w.queue(w.here), make([]exs.Event, 1)
		for i := range 200 {
			s := w.socket(w.here, typ)
			w.ok(s.Connect(addr, 0, bound, q, i))
			time.Sleep(time.Duration(i%40) * 10 * time.Microsecond)
			cancelled, err := s.Cancel(i, 0)
			w.ok(err)
			if again, err := s.Cancel(i, 0); again != 0 || err != nil {
				w.Fatalf("cancelled twice: %d, %v", again, err)
			}
			if n, err := q.Dequeue(events, bound); n != 1 || err != nil {
				w.Fatal(n, err)
			}
			want := exs.Errno(0)
			if cancelled != 0 {
				want = exs.ECANCELED
			}
			if events[0].Errno != want {
				w.Fatalf("Cancel has returned %d, and the event says %v", cancelled, events[0].Errno)
			}
			if cancelled != 0 {
				w.ok(s.Connect(addr, exs.Block, bound, nil, nil))
			}
			w.ok(s.BlockingClose())
		}
	})
}

// TestCancelOfAReceive: a receive of a stream without a buffer ends with ECANCELED if Cancel has counted it, and otherwise as usual, also if data
// is landing in it.
func TestCancelOfAReceive(t *testing.T) {
	over(t, streams, func(w *world, typ int) {
		p := w.connect(typ, func(s *exs.Socket) {
			_, err := s.Fcntl(exs.SetStreamBufSize, 0)
			w.ok(err)
		})
		sent, events := pattern(3<<20, 3), make([]exs.Event, 1)
		got := make([]byte, 2*len(sent))
		for i := range 100 {
			p.recv(p.b, p.qb, got, 0)
			p.send(p.a, p.qa, sent, 0)
			for end := time.Now().Add(time.Duration(i%50) * 10 * time.Microsecond); time.Now().Before(end); {
			}
			counted, err := p.b.Cancel(nil, exs.CancelAll)
			w.ok(err)
			if n, err := p.qb.Dequeue(events, bound); n != 1 || err != nil {
				w.Fatal(n, err)
			}
			if cancelled := events[0].Errno == exs.ECANCELED; cancelled != (counted == 1) || cancelled && events[0].Length != 0 {
				w.Fatalf("round %d: Cancel has counted %d, and the event says %v and %d bytes", i, counted, events[0].Errno, events[0].Length)
			}
			for n := int(events[0].Length); n < len(sent); {
				more, err := p.b.BlockingRecv(got[n:], 0, nil)
				w.ok(err)
				n += more
			}
			w.same(got[:len(sent)], sent)
			w.event(p.qa, exs.EvtSend, 0)
		}
	})
}
