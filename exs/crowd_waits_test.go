package exs_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gomx/exs"
)

// Several goroutines that take from one queue each wait until they have as many events as they want, whoever else was quicker.
func TestDequeueInACrowd(t *testing.T) {
	const takers, least = 4, 2
	const events = 3000
	over(t, packets, func(w *world, typ int) {
		p := w.connect(typ)
		var wrong, taken atomic.Int64
		var crowd sync.WaitGroup
		q := w.queue(w.there)
		for range takers {
			crowd.Go(func() {
				room := make([]exs.Event, 5)
				for taken.Load() < events {
					n, err := q.DequeueAtLeast(room, least, exs.Infinite)
					if err != nil {
						return // it was deleted
					}
					if n < least {
						wrong.Add(1)
					}
					taken.Add(int64(n))
				}
			})
		}
		crowd.Go(func() {
			for range events {
				p.recv(p.b, q, make([]byte, 1), exs.CreditWait)
			}
		})
		for i := range events {
			_, err := p.a.BlockingSend([]byte("x"), 0, nil)
			w.ok(err)
			if i%50 == 0 {
				time.Sleep(100 * time.Microsecond)
			}
		}
		w.within("all events but one at most", func() {
			for taken.Load() <= events-least {
				time.Sleep(time.Millisecond)
			}
		})
		w.ok(q.Delete())
		crowd.Wait()
		if n := wrong.Load(); n > 0 {
			t.Errorf("%d calls of DequeueAtLeast have returned less than %d events", n, least)
		}
	})
}

// A Poll whose socket's data another goroutine takes waits on.
func TestPollBesideAReceiver(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		for range 60 {
			p := w.connect(typ)
			var early atomic.Int64
			var crowd sync.WaitGroup
			poll := func(receives bool) {
				for {
					e := []exs.PollEntry{{Socket: p.b, Events: exs.PollIn}}
					n, err := exs.Poll(e, exs.Infinite)
					if n == 0 || err != nil {
						early.Add(1)
						continue
					}
					if e[0].Revents&exs.PollHup != 0 {
						return
					}
					if receives {
						if n, err := p.b.BlockingRecv(make([]byte, 100), 0, nil); n == 0 || err != nil {
							return
						}
					}
				}
			}
			for i := range 3 {
				crowd.Go(func() { poll(i == 0) })
			}
			for i := range 100 {
				_, err := p.a.BlockingSend([]byte("0123456789"), 0, nil)
				w.ok(err)
				if i%10 == 0 {
					time.Sleep(100 * time.Microsecond)
				}
			}
			w.ok(p.a.BlockingClose())
			w.within("the polls", crowd.Wait)
			w.ok(p.b.BlockingClose())
			if n := early.Load(); n > 0 {
				t.Fatalf("%d calls of Poll have ended without an event", n)
			}
		}
	})
}
