package exs_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"

	"gomx/exs"
)

var networkOf = map[int]string{exs.Stream: "exs", exs.SeqPacket: "exspacket"}

// echoed has two ends of a connection exchange a message, both ways.
func (w *world) echoed(a, b net.Conn) {
	w.Helper()
	for range 2 {
		_, err := a.Write([]byte("message"))
		w.ok(err)
		got := make([]byte, 7)
		_, err = io.ReadFull(b, got)
		w.ok(err)
		w.same(got, []byte("message"))
		a, b = b, a
	}
}

// dials makes a connection to a listener, and closes it with the test.
func (w *world) dials(ln net.Listener, address string) (here, there net.Conn) {
	w.Helper()
	d := &exs.Dialer{Library: w.here, Timeout: bound}
	here, err := d.Dial(ln.Addr().Network(), address)
	w.ok(err)
	w.Cleanup(func() { _ = here.Close() })
	there, err = ln.Accept()
	w.ok(err)
	w.Cleanup(func() { _ = there.Close() })
	return here, there
}

// wantDirect wants so many connections to have been made without TCP.
func (w *world) wantDirect(n uint64) {
	w.Helper()
	if got := w.here.Direct(); got != n {
		w.Fatalf("%d connections were made directly, want %d", got, n)
	}
}

// A client that has connected to a listener of its host over TCP connects to it directly from then on. The addresses are as with TCP.
func TestConnectsAgainDirectly(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		ln, err := w.there.Listen(networkOf[typ], "127.0.0.1:0")
		w.ok(err)
		defer ln.Close()
		ports := map[string]bool{}
		for i := range uint64(5) {
			a, b := w.dials(ln, ln.Addr().String())
			w.wantDirect(i)
			if a.RemoteAddr().String() != ln.Addr().String() || b.LocalAddr().String() != ln.Addr().String() {
				t.Errorf("connection to %v and of %v, and the listener is at %v", a.RemoteAddr(), b.LocalAddr(), ln.Addr())
			}
			from := a.LocalAddr().String()
			if ports[from] || from != b.RemoteAddr().String() {
				t.Errorf("connection from %v, which the listener knows as %v", from, b.RemoteAddr())
			}
			ports[from] = true
			w.echoed(a, b)
			if i%2 == 0 {
				continue // others are open meanwhile
			}
			w.ok(a.Close())
			if _, err := b.Read(make([]byte, 1)); err != io.EOF {
				t.Errorf("after the close of the peer: %v", err)
			}
			w.ok(b.Close())
		}
	})
}

// A socket that is bound to an address connects from that address over TCP.
func TestBoundSocketConnectsOverTCP(t *testing.T) {
	w := newWorld(t, "mem")
	ln := w.listens()
	w.dials(ln, ln.Addr().String())
	d := &exs.Dialer{Library: w.here, Timeout: bound, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}}
	c, err := d.Dial("exs", ln.Addr().String())
	w.ok(err)
	defer c.Close()
	w.wantDirect(0)
}

// A closed listener is not reached any more, though its library is open. A new listener at its address is reached.
func TestListenerThatHasGone(t *testing.T) {
	for _, medium := range []string{"one library", "mem", "shm"} {
		t.Run(medium, func(t *testing.T) {
			w := newWorld(t, medium)
			ln := w.listens()
			at := ln.Addr().String()
			w.dials(ln, at)
			w.dials(ln, at)
			w.ok(ln.Close())
			_, err := w.here.Dial("exs", at)
			refused(t, err, exs.ECONNREFUSED)
			again, err := w.there.Listen("exs", at)
			w.ok(err)
			defer again.Close()
			for range 2 {
				a, b := w.dials(again, at)
				w.echoed(a, b)
			}
			w.wantDirect(2)
			if medium == "one library" {
				return
			}
			w.ok(w.there.Close())
			_, err = w.here.Dial("exs", at)
			refused(t, err, exs.ECONNREFUSED)
			w.there = w.open()
			other, err := w.there.Listen("exs", at)
			w.ok(err)
			defer other.Close()
		})
	}
}

// A client that finds the queue of the listener full waits for its turn over TCP.
func TestDirectConnectToAFullQueue(t *testing.T) {
	w := newWorld(t, "mem")
	ln, err := (&exs.ListenConfig{Library: w.there, Backlog: 1}).Listen(t.Context(), "exs", "127.0.0.1:0")
	w.ok(err)
	defer ln.Close()
	w.dials(ln, ln.Addr().String())
	d := &exs.Dialer{Library: w.here, Timeout: bound}
	first, err := d.Dial("exs", ln.Addr().String())
	w.ok(err)
	defer first.Close()
	w.wantDirect(1)
	says(t, w.timesOut(ln.Addr().String(), "its queue"), "backlog")
	accepted, err := ln.Accept()
	w.ok(err)
	defer accepted.Close()
	w.echoed(first, accepted)
	w.dials(ln, ln.Addr().String())
	w.wantDirect(2)
}

// A client behind a proxy always connects over TCP: the proxy may forward the next connection to another listener.
func TestForwardedClientConnectsOverTCP(t *testing.T) {
	w := newWorld(t, "mem")
	ln := w.listens()
	came := make(chan struct{}, 9)
	at := w.faker(func(client net.Conn) {
		came <- struct{}{}
		forward(t, client, ln, func(net.Conn) {})
	})
	for i := range 3 {
		a, b := w.dials(ln, at)
		w.echoed(a, b)
		if len(came) != i+1 {
			t.Errorf("%d of %d connections were forwarded", len(came), i+1)
		}
	}
	w.wantDirect(0)
}

// A listener grants direct connects only to clients that it knows from TCP.
func TestUnknownClientConnectsOverTCP(t *testing.T) {
	w := newWorld(t, "mem")
	known, other := w.listens(), w.listens()
	w.dials(known, known.Addr().String())
	to := netip.MustParseAddrPort(other.Addr().String())
	w.here.AskAs(netip.MustParseAddrPort(known.Addr().String()), to, other)
	asked := 0
	w.ok(w.there.BeforeConnect(func() { asked++ }))
	a, b := w.dials(other, to.String())
	w.echoed(a, b)
	w.wantDirect(0)
	if asked != 1 {
		t.Errorf("the listener was asked %d times", asked)
	}
	w.dials(other, to.String())
	if asked != 1 {
		t.Error("the listener was asked again, though it does not know the address")
	}
}

// A client that has given up when the listener grants its connection does not keep it: the listener's side is reset.
func TestGrantedTooLate(t *testing.T) {
	for _, how := range []string{"context", "close", "library"} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t, "mem")
			ln := w.listens()
			w.dials(ln, ln.Addr().String())
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s, q := w.socket(w.here, exs.Stream), w.queue(w.here)
			ended := make(chan error, 1)
			w.ok(w.there.BeforeConnect(func() { // the client's library goes on meanwhile
				switch how {
				case "context":
					cancel()
				case "close":
					w.ok(s.Close(0, q, nil))
				case "library":
					go func() { _ = w.here.Close() }()
				}
				select {
				case err := <-ended:
					ended <- err
				case <-t.Context().Done():
				}
			}))
			go func() {
				var err error
				if how == "close" {
					err = s.Connect(netip.MustParseAddrPort(ln.Addr().String()), exs.Block, bound, nil, nil)
				} else {
					_, err = w.here.DialContext(ctx, "exs", ln.Addr().String())
				}
				ended <- err
			}()
			b, err := ln.Accept()
			w.ok(err)
			defer b.Close()
			if err := <-ended; how == "context" && !errors.Is(err, context.Canceled) || how != "context" && !errors.Is(err, net.ErrClosed) {
				t.Error(err)
			}
			_, err = b.Read(make([]byte, 1))
			refused(t, err, exs.ECONNRESET)
			w.wantDirect(0)
		})
	}
}

// A connect fails with ECONNREFUSED when the listener's library is closed before it replies.
func TestListenerDiesWhileItIsAsked(t *testing.T) {
	w := newWorld(t, "mem")
	ln := w.listens()
	w.dials(ln, ln.Addr().String())
	closed := make(chan struct{})
	w.ok(w.there.BeforeConnect(func() {
		go func() {
			_ = ln.Close()
			_ = w.there.Close()
			close(closed)
		}()
		for { // until the listener does not answer at its address
			c, err := net.Dial("tcp", ln.Addr().String())
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}))
	d := &exs.Dialer{Library: w.here, Timeout: bound}
	_, err := d.Dial("exs", ln.Addr().String())
	refused(t, err, exs.ECONNREFUSED)
	<-closed
}
