package exs_test

import (
	"fmt"
	"testing"

	"gomx/exs"
	"gomx/mx"
)

// BenchmarkLatency sends to and fro between two goroutines of one process, with two
// libraries. One operation is half a round trip. Beside it, what the same costs with mx
// alone.
func BenchmarkLatency(b *testing.B) {
	for _, medium := range []string{"shm", "mem"} {
		for _, n := range []int{8, 512, 4096} {
			b.Run(fmt.Sprintf("mx/%s/%d", medium, n), func(b *testing.B) { below(b, medium, n) })
			for _, typ := range []int{exs.SeqPacket, exs.Stream} {
				name := map[int]string{exs.Stream: "stream", exs.SeqPacket: "packets"}[typ]
				b.Run(fmt.Sprintf("%s/%s/%d", name, medium, n), func(b *testing.B) { latency(b, medium, typ, n) })
			}
		}
	}
}

func latency(b *testing.B, medium string, typ, n int) {
	w := newWorld(b, medium)
	p := w.connect(typ)
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, n)
		var e [1]exs.Event
		for echo(p.b, p.qb, buf, e[:]) {
		}
	}()
	buf := make([]byte, n)
	var e [2]exs.Event
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%2 == 0 {
			ping(b, p.a, p.qa, buf, e[:])
		}
	}
	w.ok(p.a.BlockingClose())
	<-done
}

func ping(b *testing.B, s *exs.Socket, q *exs.Queue, buf []byte, e []exs.Event) {
	if _, err := s.Recv(buf, exs.WaitAll, q, nil, nil); err != nil {
		b.Fatal(err)
	}
	if _, err := s.Send(buf, 0, q, nil, nil); err != nil {
		b.Fatal(err)
	}
	for got := 0; got < 2; {
		n, err := q.Dequeue(e, bound)
		if err != nil || n == 0 {
			b.Fatal(n, err)
		}
		got += n
	}
}

func echo(s *exs.Socket, q *exs.Queue, buf []byte, e []exs.Event) bool {
	if _, err := s.Recv(buf, exs.WaitAll, q, nil, nil); err != nil {
		return false
	}
	for {
		n, err := q.Dequeue(e, bound)
		if err != nil || n == 0 || e[0].Errno != 0 {
			return false
		}
		if e[0].Type == exs.EvtRecv {
			break
		}
	}
	if e[0].Length == 0 {
		return false
	}
	_, err := s.Send(buf, 0, q, nil, nil)
	return err == nil
}

func below(b *testing.B, medium string, n int) {
	_ = mx.Init()
	open := func() *mx.Endpoint {
		ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, 1, mx.WithTransports(medium))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = ep.Close() })
		return ep
	}
	join := func(from, to *mx.Endpoint) mx.EndpointAddr {
		nic, id, _ := mx.DecomposeEndpointAddr(to.Addr())
		addr, err := from.Connect(nic, id, 1, bound)
		if err != nil {
			b.Fatal(err)
		}
		return addr
	}
	x, y := open(), open()
	toY, toX := join(x, y), join(y, x)
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, n)
		for {
			r, _ := y.Irecv(buf, 1, 1, nil)
			st, _, err := y.Wait(r, bound)
			if err != nil || st.MatchInfo != 1 {
				return
			}
			if r, err = y.Isend(buf, toX, 1, nil); err != nil || y.Finish(r, bound) != nil {
				return
			}
		}
	}()
	buf := make([]byte, n)
	for i := 0; b.Loop(); i++ {
		if i%2 == 0 {
			r, _ := x.Irecv(buf, 1, 1, nil)
			s, err := x.Isend(buf, toY, 1, nil)
			if err != nil || x.Finish(s, bound) != nil || x.Finish(r, bound) != nil {
				b.Fatal(err)
			}
		}
	}
	s, _ := x.Isend(nil, toY, 3, nil)
	_ = x.Finish(s, bound)
	<-done
}

// BenchmarkPassage sends a packet from one library to another in one goroutine: what the
// library does for it, without the time that cache lines travel.
func BenchmarkPassage(b *testing.B) {
	b.Run("packets", func(b *testing.B) { passage(b, exs.SeqPacket) })
	b.Run("stream", func(b *testing.B) { passage(b, exs.Stream) })
	b.Run("mx", peers)
	for name, small := range map[string]int{"packets that block": 0, "small packets that block": exs.MaxSmallPacket} {
		b.Run(name, func(b *testing.B) { blocking(b, small) })
	}
}

// blocking is what cmd/exs_blast does for latency: a send without event, and a receive
// that waits; there and back.
func blocking(b *testing.B, small int) {
	p := newWorld(b, "shm").connect(exs.SeqPacket, smallUpTo(b, small))
	buf := make([]byte, 8)
	from, to := p.a, p.b
	b.ReportAllocs()
	for b.Loop() {
		if _, err := from.Send(buf, exs.Unsignaled|exs.CreditWait, nil, nil, nil); err != nil {
			b.Fatal(err)
		}
		if n, err := to.Recv(buf, exs.Block, nil, nil, nil); n != len(buf) || err != nil {
			b.Fatal(n, err)
		}
		from, to = to, from
	}
}

func passage(b *testing.B, typ int) {
	w := newWorld(b, "shm")
	p := w.connect(typ)
	out, in := make([]byte, 8), make([]byte, 8)
	var e [1]exs.Event
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.b.Recv(in, exs.WaitAll, p.qb, nil, nil); err != nil {
			b.Fatal(err)
		}
		if _, err := p.a.Send(out, 0, p.qa, nil, nil); err != nil {
			b.Fatal(err)
		}
		if n, err := p.qa.Dequeue(e[:], bound); n != 1 {
			b.Fatal(err)
		}
		if n, err := p.qb.Dequeue(e[:], bound); n != 1 {
			b.Fatal(err)
		}
	}
}

func peers(b *testing.B) {
	_ = mx.Init()
	out, in := make([]byte, 8), make([]byte, 8)
	open := func() *mx.Endpoint {
		ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, 1, mx.WithTransports("shm"))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = ep.Close() })
		return ep
	}
	x, y := open(), open()
	nic, id, _ := mx.DecomposeEndpointAddr(y.Addr())
	to, err := x.Connect(nic, id, 1, bound)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r, _ := y.Irecv(in, 1, 1, nil)
		s, _ := x.Isend(out, to, 1, nil)
		if x.Finish(s, bound) != nil || y.Finish(r, bound) != nil {
			b.Fatal("failed")
		}
	}
}
