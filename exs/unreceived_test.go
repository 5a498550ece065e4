package exs_test

import (
	"os"
	"testing"

	"gomx/exs"
	"gomx/mx"
)

// untaken is how many packets of unreceived there are.
const untaken = 3

// unreceived is a connection with large packets that wait at their sender, of which the peer knows: what was sent
// behind them over another connection has arrived. Within one library they would not wait, unless that talks to itself over a link.
func unreceived(w *world, typ int) *pair {
	w.Helper()
	if w.here == w.there && os.Getenv(overLink) == "" {
		w.Skip("large packets are held within one library")
	}
	p, later := w.connect(typ), w.connect(typ)
	for range untaken {
		p.send(p.a, p.qa, make([]byte, 1<<20), 0)
	}
	_, err := later.a.Write([]byte("behind"))
	w.ok(err)
	_, err = later.b.Read(make([]byte, 10))
	w.ok(err)
	if n, err := p.qa.Dequeue(make([]exs.Event, 1), 0); n != 0 || err != nil {
		w.Fatalf("%d events of sends that nobody receives, %v", n, err)
	}
	return p
}

// unsent wants all of them to have ended with EPIPE, and nothing of them to have been sent.
func (p *pair) unsent() {
	p.Helper()
	for range untaken {
		if e := p.event(p.qa, exs.EvtSend, exs.EPIPE); e.Length != 0 {
			p.Errorf("%d bytes were sent", e.Length)
		}
	}
}

func TestUnreceivedWhenThePeerStopsReceiving(t *testing.T) { over(t, packets, stopsReceiving) }

func stopsReceiving(w *world, typ int) {
	p := unreceived(w, typ)
	p.ok(p.b.Shutdown(exs.ShutRD, exs.Block, nil, nil))
	p.unsent()
	_, err := p.b.Write([]byte("still here"))
	p.ok(err)
}

func TestUnreceivedWhenThePeerCloses(t *testing.T) { over(t, packets, closes) }

func closes(w *world, typ int) {
	p := unreceived(w, typ)
	p.ok(p.b.BlockingClose())
	p.unsent()
}

// overLink is the name of the variable that makes a library talk to itself as it does to others.
const overLink = "MX_DISABLE_SELF"

func TestUnreceivedWithinOneLibraryOverALink(t *testing.T) {
	t.Setenv(overLink, "1")
	_ = mx.Finalize() // the next Init reads the environment
	defer func() { _ = mx.Finalize() }()
	for name, f := range map[string]func(*world, int){"stops receiving": stopsReceiving, "closes": closes} {
		t.Run(name, func(t *testing.T) { f(newWorld(t, "one library"), exs.SeqPacket) })
	}
}

// A large packet that is received into no memory at all was sent all the same.
func TestReceiveIntoNothing(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		p := w.connect(typ)
		p.send(p.a, p.qa, make([]byte, 1<<20), 0)
		p.recv(p.b, p.qb, nil, 0)
		if e := p.event(p.qb, exs.EvtRecv, 0); e.Length != 0 || e.AmountLost != 1<<20 {
			w.Errorf("%d bytes, %d were lost", e.Length, e.AmountLost)
		}
		if e := p.event(p.qa, exs.EvtSend, 0); e.Length != 1<<20 {
			w.Errorf("%d bytes were sent", e.Length)
		}
	})
}

// A small packet from memory that is not registered is copied by the call (7.2), also within one library.
func TestSmallPacketsAreCopied(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		p := w.connect(typ, func(s *exs.Socket) {
			_, err := s.Fcntl(exs.SetSPMaxSize, 1000)
			w.ok(err)
		})
		for _, n := range []int{1, 100, 127, 128, 1000} {
			b := pattern(n, 1)
			p.send(p.a, p.qa, b, 0)
			clear(b)
			in := make([]byte, n)
			_, err := p.b.Read(in)
			p.ok(err)
			p.same(in, pattern(n, 1))
			p.event(p.qa, exs.EvtSend, 0)
		}
	})
}
