package exs_test

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"gomx/exs"
	"gomx/internal/testlength"
)

// mute is an address at which somebody listens and says nothing.
func (w *world) mute() netip.AddrPort {
	w.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	w.ok(err)
	w.Cleanup(func() { _ = l.Close() })
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// nobody is an address at which nobody listens.
var nobody = netip.MustParseAddrPort("127.0.0.1:1")

// failed is a socket that is bound, and whose connect has failed.
func (w *world) failed(typ int, to netip.AddrPort, n exs.Errno) (*exs.Socket, netip.AddrPort) {
	w.Helper()
	s := w.socket(w.there, typ)
	w.ok(s.Bind(loopback))
	addr, err := s.SockName()
	w.ok(err)
	timeout := bound
	if n == exs.ETIMEDOUT {
		timeout = 50 * time.Millisecond
	}
	refused(w, s.Connect(to, exs.Block, timeout, nil, nil), n)
	if now, err := s.SockName(); now != addr || err != nil {
		w.Errorf("%v, %v, and %v was bound", now, err, addr)
	}
	return s, addr
}

// talk has two sockets that are connected exchange bytes.
func (w *world) talk(a, b *exs.Socket) {
	w.Helper()
	for range 3 {
		in := make([]byte, 9)
		_, err := a.Write([]byte("question"))
		w.ok(err)
		n, err := b.Read(in)
		w.ok(err)
		w.same(in[:n], []byte("question"))
		a, b = b, a
	}
}

// meet connects a socket to a listener.
func (w *world) meet(s, l *exs.Socket, addr netip.AddrPort) *exs.Socket {
	w.Helper()
	ended := make(chan error)
	go func() { ended <- s.Connect(addr, exs.Block, bound, nil, nil) }()
	b, _, err := l.BlockingAccept()
	w.ok(err)
	w.ok(<-ended)
	return b
}

// A bound socket whose connect failed is bound: it can be closed, listen, and end with its library.
func TestBoundAfterConnect(t *testing.T) {
	eachType(t, func(w *world, typ int) {
		for to, n := range map[netip.AddrPort]exs.Errno{nobody: exs.ECONNREFUSED, w.mute(): exs.ETIMEDOUT} {
			s, addr := w.failed(typ, to, n)
			w.ok(s.BlockingClose())
			ln, err := net.Listen("tcp", addr.String())
			w.ok(err) // the port is free
			w.ok(ln.Close())

			s, addr = w.failed(typ, to, n)
			w.ok(s.Listen(1))
			c := w.socket(w.here, typ)
			w.talk(c, w.meet(c, s, addr))
			w.ok(s.BlockingClose())

			w.failed(typ, to, n)
		}
		w.ok(w.there.Close())
	})
}

// Nobody listens at the address that a socket is itself bound to, though TCP connects a port with itself.
func TestConnectToOneself(t *testing.T) {
	eachType(t, func(w *world, typ int) {
		s := w.socket(w.there, typ)
		w.ok(s.Bind(loopback))
		addr, err := s.SockName()
		w.ok(err)
		refused(w, s.Connect(addr, exs.Block, bound, nil, nil), exs.ECONNREFUSED)
	})
}

// A socket whose connect failed connects again, from the address that it is bound to if it is.
func TestConnectAgain(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	over(t, both, func(w *world, typ int) {
		l, addr := w.listener(typ)
		s, from := w.failed(typ, w.mute(), exs.ETIMEDOUT)
		for range 2 { // that it has failed once more makes no difference
			refused(w, s.Connect(w.mute(), exs.Block, 50*time.Millisecond, nil, nil), exs.ETIMEDOUT)
		}
		b := w.meet(s, l, addr)
		if name, err := b.PeerName(); name != from || err != nil {
			w.Errorf("from %v, %v, and not %v", name, err, from)
		}
		w.talk(s, b)
		w.ok(s.BlockingClose())
		next := w.socket(w.there, typ)
		w.ok(next.Bind(from)) // nothing is left of the connection at the port
		w.talk(next, w.meet(next, l, addr))
	})
}

// A socket that gave up its place in a listener's queue is one that has never been there: what the listener still says about
// that place does not touch the connection that it makes then.
func TestConnectAgainBehindTheQueue(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	over(t, both, func(w *world, typ int) {
		l, addr := w.listener(typ)
		w.ok(l.Listen(1))
		_, err := l.Fcntl(exs.SetFlowControlCredits, 3)
		w.ok(err)
		_, err = exs.Poll([]exs.PollEntry{{Socket: l, Events: exs.PollIn}}, 0) // clients may come
		w.ok(err)
		first := w.socket(w.here, typ)
		w.ok(first.Connect(addr, exs.Block, bound, nil, nil))
		for _, isBound := range []bool{true, false} {
			s := w.socket(w.here, typ)
			var own netip.AddrPort
			if isBound {
				w.ok(s.Bind(loopback))
				own, _ = s.SockName()
			}
			refused(w, s.Connect(addr, exs.Block, 100*time.Millisecond, nil, nil), exs.ETIMEDOUT)
			if name, err := s.SockName(); name != own || err != nil {
				w.Errorf("name %v, %v, and not %v", name, err, own)
			}
			if n, err := s.Fcntl(exs.GetFlowControlCredits, 0); n != exs.DefaultCredits || err != nil {
				w.Errorf("%d credits, %v", n, err)
			}
			ended := make(chan error)
			go func() { ended <- s.Connect(addr, exs.Block, bound, nil, nil) }()
			b, _, err := l.BlockingAccept() // the one before
			w.ok(err)
			w.talk(first, b)
			w.ok(<-ended)
			first = s
		}
		b, _, err := l.BlockingAccept()
		w.ok(err)
		w.talk(first, b)
		w.ok(first.BlockingClose())
		w.ok(b.BlockingClose())
	})
}

// A connect may end in the middle of anything. Whatever it was, nothing of it is left at the port.
func TestConnectEndsAnywhere(t *testing.T) {
	w := newWorld(t, "mem")
	l, addr := w.listener(exs.Stream)
	go func() {
		for s, _, err := l.BlockingAccept(); err == nil; s, _, err = l.BlockingAccept() {
			_ = s.Close(exs.Block|exs.DontLinger, nil, nil)
		}
	}()
	for i := range 400 {
		s := w.socket(w.here, exs.Stream)
		w.ok(s.Bind(loopback))
		if s.Connect(addr, exs.Block, time.Duration(i)*time.Microsecond, nil, nil) != nil {
			w.ok(s.Listen(1))
		}
		w.ok(s.Close(exs.Block|exs.DontLinger, nil, nil))
	}
}
