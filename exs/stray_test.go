package exs_test

import (
	"testing"

	"gomx/exs"
	"gomx/internal/testlength"
)

// strays makes a connection whose first packet of n bytes is on its way to a receive when that is
// cancelled, and sends another one. Both are b's to receive.
func (w *world) strays(n int) *pair {
	w.Helper()
	p := w.connect(exs.SeqPacket, w.small(8, 1000))
	first := true
	before := func() {
		if first {
			p.recv(p.b, p.qb, make([]byte, n), 0) // the packet is left to it
		}
	}
	after := func() {
		if !first {
			return
		}
		first = false
		if taken, err := p.b.Cancel(nil, 0); taken != 1 || err != nil {
			w.Errorf("%d cancelled, %v", taken, err)
		}
	}
	w.ok(p.there.AroundPackets(before, after))
	p.send(p.a, p.qa, pattern(n, 1), exs.Unsignaled)
	p.event(p.qb, exs.EvtRecv, exs.ECANCELED)
	p.send(p.a, p.qa, pattern(40, 2), exs.Unsignaled)
	return p
}

// A receive is cancelled between the handler, which left a packet to it, and the endpoint, which
// then does not find it. The packet is for whatever comes next.
func TestStrayPacket(t *testing.T) {
	testlength.Long(t)
	over(t, packets, func(w *world, _ int) {
		for _, n := range []int{0, 40, 1000, 100_000} {
			for what, f := range map[string]func(p *pair, n int){
				"receive": strayToReceive, "in place": strayInPlace, "persistent": strayToPersistent,
				"notify": strayToNotify, "peek": strayToPeek, "cancelled again": strayAgain,
			} {
				w.Log(what, n)
				p := w.strays(n)
				f(p, n)
				w.ok(p.a.BlockingClose())
				w.ok(p.b.BlockingClose())
			}
		}
	})
}

func (p *pair) gets(want []byte) {
	p.Helper()
	in := make([]byte, len(want)+1)
	p.recv(p.b, p.qb, in, 0)
	e := p.event(p.qb, exs.EvtRecv, 0)
	p.same(in[:e.Length], want)
}

func strayToReceive(p *pair, n int) {
	p.gets(pattern(n, 1))
	p.gets(pattern(40, 2))
}

// Packets that are small are in place, and need no memory of the receive's.
func strayInPlace(p *pair, n int) {
	for i, want := range [][]byte{pattern(n, 1), pattern(40, 2)} {
		var in []byte
		if small := len(want) <= 1000; !small {
			in = make([]byte, n)
		}
		p.recv(p.b, p.qb, in, exs.InPlace)
		e := p.event(p.qb, exs.EvtRecv, 0)
		p.same(e.Buffer[:e.Length], want)
		if e.InPlace != (in == nil) || e.AmountLost != 0 {
			p.Errorf("packet %d: in place %v, %d lost", i, e.InPlace, e.AmountLost)
		}
		if e.InPlace {
			p.ok(p.b.RecycleRcvBuffer(e.Buffer))
		}
	}
}

func strayToPersistent(p *pair, n int) {
	field := make([]byte, 100_000)
	p.persist(p.b, p.qb, field, true, 0)
	p.used(p.b, 2)
	want := pattern(n, 1)
	copy(want, pattern(40, 2))
	if n < 40 {
		want = pattern(40, 2)
	}
	p.same(field[:len(want)], want)
}

func strayToNotify(p *pair, n int) {
	p.persist(p.b, p.qb, make([]byte, 100_000), true, exs.Notify)
	for _, want := range []int{n, 40} {
		if e := p.event(p.qb, exs.EvtWritten, 0); e.Length != want {
			p.Errorf("%d bytes written, not %d", e.Length, want)
		}
	}
}

func strayToPeek(p *pair, n int) {
	in := make([]byte, n)
	p.recv(p.b, p.qb, in, exs.Peek)
	p.event(p.qb, exs.EvtRecv, 0)
	p.same(in, pattern(n, 1))
	strayToReceive(p, n)
}

// In place still after one was cancelled.
func strayAgain(p *pair, n int) {
	strayToReceive(p, n)
	for range 3 {
		p.recv(p.b, p.qb, nil, 0)
		if taken, err := p.b.Cancel(nil, 0); taken != 1 || err != nil {
			p.Errorf("%d cancelled, %v", taken, err)
		}
		p.event(p.qb, exs.EvtRecv, exs.ECANCELED)
		p.recv(p.b, p.qb, nil, exs.InPlace)
		p.send(p.a, p.qa, pattern(8, 3), exs.Unsignaled)
		e := p.event(p.qb, exs.EvtRecv, 0)
		if !e.InPlace {
			p.Fatal("not in place")
		}
		p.same(e.Buffer, pattern(8, 3))
		p.ok(p.b.RecycleRcvBuffer(e.Buffer))
	}
}
