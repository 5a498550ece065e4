package exs_test

import (
	"errors"
	"sync"
	"testing"

	"gomx/exs"
)

// sendsBeforeExport runs send once, when a learns that its peer has memory.
func (p *pair) sendsBeforeExport(send func()) {
	p.Helper()
	var once sync.Once
	p.ok(p.here.BeforeExport(func() { once.Do(send) }))
}

// sendsAtOnce sends so many packets from a, or as many as its credits allow, and returns how many.
func (p *pair) sendsAtOnce(most int, packet func(i int) []byte) int {
	for i := range most {
		switch _, err := p.a.Send(packet(i), exs.Unsignaled, nil, nil, nil); {
		case errors.Is(err, exs.EBUSY):
			return i
		case err != nil:
			p.Error(err)
		}
	}
	return most
}

// What is sent before the peer's memory is known, and waits for a credit or is fetched, is in that memory before what is sent later.
func TestSendsInOrderAsMemoryComes(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		const credits, all = 4, 20
		for _, flags := range []exs.Flags{exs.Notify, 0} {
			for _, size := range []struct{ bytes, early int }{{8, credits + 2}, {100_000, credits - 1}} {
				p := w.connect(typ, w.small(credits, 0))
				field := make([]byte, size.bytes+all)
				early := make(chan int, 1)
				p.sendsBeforeExport(func() {
					early <- p.sendsAtOnce(size.early, func(i int) []byte { return pattern(size.bytes+i, byte(i)) })
				})
				p.persist(p.b, p.qb, field, true, flags)
				go func() {
					for i := <-early; i < all; i++ {
						if _, err := p.a.Send(pattern(size.bytes+i, byte(i)), exs.Block, nil, nil, nil); err != nil {
							t.Error(err)
						}
					}
				}()
				for i := 0; i < all && flags == exs.Notify; i++ {
					if e := p.event(p.qb, exs.EvtWritten, 0); e.Length != size.bytes+i {
						w.Fatalf("%d bytes: send %d is in the memory in place of %d", size.bytes, e.Length-size.bytes, i)
					}
				}
				p.used(p.b, all)
				p.same(field[:size.bytes], pattern(size.bytes, all-1))
				p.used(p.b, 0)
				p.ok(p.b.BlockingClose())
				p.ok(p.a.BlockingClose())
			}
		}
	})
}

// Receives that were started before a persistent receive get the packets that are sent first, whatever the peer knows by then.
func TestReceivesBeforeMemory(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		p := w.connect(typ)
		first, second, field := make([]byte, 10), make([]byte, 200_000), make([]byte, 10)
		p.recv(p.b, p.qb, first, 0)
		p.recv(p.b, p.qb, second, 0)
		p.persist(p.b, p.qb, field, true, 0)
		p.known(p.b, p.a)
		sent := [][]byte{pattern(10, 1), pattern(200_000, 2), pattern(10, 3)}
		go func() {
			for _, b := range sent {
				if _, err := p.a.Send(b, exs.Block, nil, nil, nil); err != nil {
					t.Error(err)
				}
			}
		}()
		for i, b := range [][]byte{first, second} {
			p.event(p.qb, exs.EvtRecv, 0)
			p.same(b, sent[i])
		}
		p.used(p.b, 1)
		p.same(field, sent[2])
	})
}

// A persistent receive that is cancelled while receives wait before it ends alone.
func TestCancelMemoryBehindReceives(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		p := w.connect(typ)
		first, field := make([]byte, 10), make([]byte, 10)
		p.recv(p.b, p.qb, first, 0)
		p.persist(p.b, p.qb, field, true, 0)
		if n, err := p.b.Cancel("lasting", 0); n != 1 || err != nil {
			w.Fatalf("%d cancelled, %v", n, err)
		}
		p.event(p.qb, exs.EvtRecv, exs.ECANCELED)
		p.persist(p.b, p.qb, field, true, 0)
		p.send(p.a, p.qa, pattern(10, 1), 0)
		p.event(p.qb, exs.EvtRecv, 0)
		p.same(first, pattern(10, 1))
		p.known(p.b, p.a)
		p.send(p.a, p.qa, pattern(10, 2), 0)
		p.used(p.b, 1)
		p.same(field, pattern(10, 2))
	})
}

// The peer receives packets that wait for credits before it reads from a persistent send that was started behind them.
func TestPacketsBeforeMemory(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		const credits = 3
		p := w.connect(typ, w.small(credits, 0))
		p.known(p.a, p.b)
		n := p.sendsAtOnce(2*credits-1, func(i int) []byte { return []byte{byte(i)} })
		p.persist(p.a, p.qa, []byte{100}, false, exs.CreditWait)
		for i := range n + 2 {
			in := make([]byte, 1)
			_, err := p.b.Recv(in, exs.Block, nil, nil, nil)
			p.ok(err)
			if in[0] != byte(i) && (i < n || in[0] != 100) {
				w.Fatalf("receive %d of %d got packet %d", i, n, in[0])
			}
		}
	})
}

// A persistent receive that is started when the peer sends no more gets the packets that are there, and ends.
func TestMemoryBehindTheEnd(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		for _, how := range []string{"close", "shutdown"} {
			p := w.connect(typ)
			for _, n := range []int{10, 100_000, 20} {
				_, err := p.a.Send(pattern(n, byte(n)), exs.Unsignaled, nil, nil, nil)
				p.ok(err)
			}
			if how == "close" {
				p.ok(p.a.Close(0, p.qa, nil))
			} else {
				p.ok(p.a.Shutdown(exs.ShutWR, 0, p.qa, nil))
			}
			field := make([]byte, 100_000)
			for again := range 2 {
				p.persist(p.b, p.qb, field, true, exs.Notify)
				for _, n := range []int{10, 100_000, 20} {
					if again > 0 {
						break
					}
					if e := p.event(p.qb, exs.EvtWritten, 0); e.Length != n {
						w.Errorf("%d bytes instead of %d", e.Length, n)
					}
				}
				if e := p.event(p.qb, exs.EvtRecv, 0); e.Length != 0 || e.AHandle != "lasting" {
					w.Errorf("%s: the end says %d bytes, handle %v", how, e.Length, e.AHandle)
				}
				p.same(field[:20], pattern(20, 20))
			}
			n, err := p.b.Recv(field, exs.Block, nil, nil, nil)
			p.ok(err)
			if n != 0 {
				w.Errorf("%s: %d bytes come behind the end", how, n)
			}
			p.ok(p.b.BlockingClose())
		}
	})
}
