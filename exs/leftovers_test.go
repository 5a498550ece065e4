package exs_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"gomx/exs"
)

// afterDeath is a connection whose peer has written, and whose peer's endpoint has then ended without a Close, as that of a
// process that dies. b knows of the end.
func afterDeath(w *world, typ int, write func(p *pair), prepare ...func(*exs.Socket)) *pair {
	w.Helper()
	if w.here == w.there {
		w.Skip("one library ends as a whole")
	}
	p := w.connect(typ, prepare...)
	write(p)
	ep, err := w.here.Endpoint()
	w.ok(err)
	w.ok(ep.Close())
	w.within("the end of the peer is known", func() {
		for {
			if _, err := p.b.Write([]byte{0}); err != nil {
				refused(w, err, exs.ECONNRESET)
				return
			}
		}
	})
	return p
}

// writes makes a peer that writes pieces.
func writes(pieces ...[]byte) func(*pair) {
	return func(p *pair) {
		for _, b := range pieces {
			_, err := p.a.Write(b)
			p.ok(err)
		}
	}
}

// reads wants the next reads to bring just these.
func (p *pair) reads(wants ...[]byte) {
	p.Helper()
	for _, want := range wants {
		in := make([]byte, len(want))
		p.within("a read of what is there", func() {
			n, err := p.b.BlockingRecv(in, exs.WaitAll, exs.Unregistered)
			p.ok(err)
			p.same(in[:n], want)
		})
	}
}

// reset wants nothing to be there but the reset, however often it is asked for.
func (p *pair) reset() {
	p.Helper()
	for range 2 {
		p.within("a read of nothing", func() {
			n, err := p.b.Read(make([]byte, 10))
			refused(p, err, exs.ECONNRESET)
			if n != 0 {
				p.Errorf("%d bytes too many", n)
			}
		})
	}
	_, err := p.b.Write([]byte("too late"))
	refused(p, err, exs.ECONNRESET)
	p.within("the close", func() { p.ok(p.b.BlockingClose()) })
}

func TestBytesOutliveTheirSender(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		pieces := [][]byte{pattern(1, 1), pattern(100, 2), pattern(3000, 3), pattern(7, 4)}
		p := afterDeath(w, typ, writes(pieces...))
		var polled [1]exs.PollEntry
		polled[0] = exs.PollEntry{Socket: p.b, Events: exs.PollIn}
		if n, err := exs.Poll(polled[:], 0); n != 1 || err != nil || polled[0].Revents&exs.PollIn == 0 {
			w.Errorf("poll: %d, %v, %v", n, err, polled[0].Revents)
		}
		if _, err := p.b.BlockingRecv(make([]byte, 1), exs.Peek, exs.Unregistered); err != nil {
			w.Errorf("a look: %v", err)
		}
		p.reads(pieces...)
		p.reset()
	})
}

// A receive that wants more than has come gets what has come, with the error.
func TestPartOutlivesItsSender(t *testing.T) {
	over(t, streams, func(w *world, typ int) {
		in := make([]byte, 10)
		p := afterDeath(w, typ, func(p *pair) {
			p.recv(p.b, p.qb, in, exs.WaitAll)
			writes([]byte("part"))(p)
		})
		if e := p.event(p.qb, exs.EvtRecv, exs.ECONNRESET); string(in[:e.Length]) != "part" {
			w.Errorf("%q", in[:e.Length])
		}
		p.reset()
	})
}

// A receive that waits for more than has come ends with the reset, behind those that got something. One that comes later is refused.
func TestReceivesBehindTheLastBytes(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		in := make([]byte, 10)
		p := afterDeath(w, typ, func(p *pair) {
			for range 3 {
				p.recv(p.b, p.qb, in, 0)
			}
			writes([]byte("last"))(p)
		})
		if e := p.event(p.qb, exs.EvtRecv, 0); e.Length != len("last") {
			w.Errorf("%d bytes", e.Length)
		}
		for range 2 {
			p.event(p.qb, exs.EvtRecv, exs.ECONNRESET)
		}
		_, err := p.b.Recv(in, 0, p.qb, nil, nil)
		refused(w, err, exs.ECONNRESET)
		p.reset()
	})
}

// The end that the peer has announced is one, though it died later.
func TestEndOutlivesItsSender(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		p := afterDeath(w, typ, func(p *pair) {
			writes([]byte("all"))(p)
			p.ok(p.a.Shutdown(exs.ShutWR, exs.Block, nil, nil))
			p.within("the end", func() { // it is behind the bytes
				for {
					e := []exs.PollEntry{{Socket: p.b}}
					_, err := exs.Poll(e, bound)
					p.ok(err)
					if e[0].Revents&exs.PollHup != 0 {
						return
					}
				}
			})
		})
		p.reads([]byte("all"))
		for range 2 {
			if n, err := p.b.Read(make([]byte, 10)); n != 0 || err != io.EOF {
				w.Errorf("%d, %v", n, err)
			}
		}
		p.ok(p.b.BlockingClose())
	})
}

// What stays with the sender is lost, and what came behind it is not taken for it.
func TestNoGapAfterDeath(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		p := afterDeath(w, typ, func(p *pair) {
			writes([]byte("first"))(p)
			p.send(p.a, p.qa, make([]byte, 1<<20), 0)
			writes([]byte("behind"))(p)
		})
		p.reads([]byte("first"))
		p.reset()
	})
}

func TestInPlaceAfterDeath(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		p := afterDeath(w, typ, writes([]byte("one"), []byte("two")), func(s *exs.Socket) {
			_, err := s.Fcntl(exs.SetSPMaxSize, 1000)
			w.ok(err)
		})
		for range 2 {
			p.recv(p.b, p.qb, make([]byte, 1000), exs.InPlace)
		}
		for _, want := range []string{"one", "two"} {
			e := p.event(p.qb, exs.EvtRecv, 0)
			if !e.InPlace || string(e.Buffer) != want {
				w.Errorf("%q, in place %v", e.Buffer, e.InPlace)
			}
			w.ok(p.b.RecycleRcvBuffer(e.Buffer))
		}
		p.reset()
	})
}

// Receives that were cancelled, or never had their bytes, stand in nobody's way.
func TestCloseWithLeftovers(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		p := afterDeath(w, typ, writes([]byte("never read"), []byte("neither")))
		p.within("the close", func() { p.ok(p.b.BlockingClose()) })
		refused(w, p.b.BlockingClose(), exs.EBADF)
	})
}

func TestConnReadsLeftovers(t *testing.T) {
	over(t, streams, func(w *world, typ int) {
		if w.here == w.there {
			w.Skip("one library ends as a whole")
		}
		l, err := w.there.Listen("exs", "127.0.0.1:0")
		w.ok(err)
		a, err := w.here.Dial("exs", l.Addr().String())
		w.ok(err)
		b, err := l.Accept()
		w.ok(err)
		want := pattern(50_000, 1)
		_, err = a.Write(want)
		w.ok(err)
		ep, err := w.here.Endpoint()
		w.ok(err)
		w.ok(ep.Close())
		w.within("the end of the peer is known", func() {
			for err == nil {
				_, err = b.Write([]byte{0})
			}
		})
		var got []byte
		w.within("reading", func() { got, err = io.ReadAll(b) })
		if !bytes.Equal(got, want) || !errors.Is(err, exs.ECONNRESET) {
			w.Errorf("%d bytes of %d, %v", len(got), len(want), err)
		}
		w.ok(b.Close())
	})
}
