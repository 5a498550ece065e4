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
