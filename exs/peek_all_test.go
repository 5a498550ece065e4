package exs_test

import (
	"testing"

	"gomx/exs"
)

// A Peek with WaitAll waits until its buffer is full, also behind a receive that has freed a little of a stream's buffer that was full.
func TestPeekWaitsForAll(t *testing.T) {
	over(t, streams, func(w *world, typ int) {
		const size = exs.LeastStreamBuf
		p := w.connect(typ, func(s *exs.Socket) {
			_, err := s.Fcntl(exs.SetStreamBufSize, size)
			w.ok(err)
		})
		all := pattern(10*size, 5)
		p.send(p.a, p.qa, all, 0)
		in, look, rest := make([]byte, size/4), make([]byte, size), make([]byte, len(all)-size/4)
		w.within("a peek at a full buffer", func() {
			n, err := p.b.BlockingRecv(look, exs.Peek|exs.WaitAll, nil)
			p.ok(err)
			p.same(look[:n], all[:size])
		})
		p.recv(p.b, p.qb, in, exs.WaitAll)
		p.recv(p.b, p.qb, look, exs.Peek|exs.WaitAll)
		p.event(p.qb, exs.EvtRecv, 0)
		e := p.event(p.qb, exs.EvtRecv, 0)
		p.same(look[:e.Length], all[size/4:][:size])
		n, err := p.b.BlockingRecv(rest, exs.WaitAll, nil)
		p.ok(err)
		p.same(append(in, rest[:n]...), all)

		look = make([]byte, size+1) // which the buffer does not hold
		p.event(p.qa, exs.EvtSend, 0)
		p.send(p.a, p.qa, all, 0)
		if n, err := p.b.BlockingRecv(look, exs.Peek|exs.WaitAll, nil); n != size || err != nil {
			t.Errorf("%d bytes, %v", n, err)
		}
	})
}

// TestPeekOfTheEndComesLast: a look that finds the end of the packets ends behind the receive in front of it, which has the last one.
func TestPeekOfTheEndComesLast(t *testing.T) {
	over(t, []int{exs.SeqPacket}, func(w *world, typ int) {
		for range 100 {
			p := w.connect(typ)
			for _, o := range []struct {
				handle string
				flags  exs.Flags
			}{{"receive", 0}, {"look", exs.Peek}} {
				_, err := p.b.Recv(make([]byte, 1000), o.flags, p.qb, o.handle, exs.Unregistered)
				p.ok(err)
			}
			p.ok(second(p.a.BlockingSend(make([]byte, 100), 0, exs.Unregistered)))
			p.ok(p.a.Shutdown(exs.ShutWR, exs.Block, nil, nil))
			if e := p.event(p.qb, exs.EvtRecv, 0); e.AHandle != "receive" || e.Length != 100 {
				p.Fatalf("first %v of %d bytes", e.AHandle, e.Length)
			}
			if e := p.event(p.qb, exs.EvtRecv, 0); e.AHandle != "look" || e.Length != 0 {
				p.Fatalf("then %v of %d bytes", e.AHandle, e.Length)
			}
			p.ok(p.a.Close(exs.Block|exs.DontLinger, nil, nil))
			p.ok(p.b.Close(exs.Block|exs.DontLinger, nil, nil))
		}
	})
}
