package exs_test

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"gomx/exs"
	"gomx/internal/testlength"
	"gomx/mx"
)

func TestInit(t *testing.T) {
	_, err := exs.NewSocket(exs.Inet, exs.Stream, 0)
	refused(t, err, exs.EINVAL)
	_, err = exs.NewQueue(1)
	refused(t, err, exs.EINVAL)
	refused(t, exs.Init(2), exs.EINVAL)
	if err := exs.Init(exs.Version1); err != nil {
		t.Fatal(err)
	}
	refused(t, exs.Init(exs.Version1), exs.EALREADY)
	for _, c := range []struct {
		domain, typ, protocol int
		want                  exs.Errno
	}{
		{exs.Inet, exs.Stream, 0, 0},
		{exs.Inet6, exs.SeqPacket, exs.ProtoTCP, 0},
		{1, exs.Stream, 0, exs.EAFNOSUPPORT},
		{exs.Inet, 2, 0, exs.ESOCKTNOSUPPORT},
		{exs.Inet, exs.Stream, 17, exs.EPROTONOSUPPORT},
	} {
		s, err := exs.NewSocket(c.domain, c.typ, c.protocol)
		if c.want != 0 {
			refused(t, err, c.want)
		} else if err != nil || s.Type() != c.typ {
			t.Error(s, err)
		}
	}
	if err := exs.Finalize(); err != nil {
		t.Error(err)
	}
	refused(t, exs.Finalize(), exs.EINVAL)
}

// TestDialBesideFinalize: Dial and Listen have a default library, whenever another goroutine calls Finalize.
func TestDialBesideFinalize(t *testing.T) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 50_000 {
			_ = exs.Finalize() // nothing to close, most of the time
		}
	}()
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		default:
		}
		if l, err := exs.Initialized(); l == nil || err != nil {
			t.Fatal(l, err)
		}
	}
	if err := exs.Finalize(); err != nil {
		t.Error(err)
	}
}

func TestAddresses(t *testing.T) {
	w := newWorld(t, "mem")
	l, addr := w.listener(exs.Stream)
	if addr.Port() == 0 {
		t.Error("no port")
	}
	other := w.socket(w.there, exs.Stream)
	refused(t, other.Bind(addr), exs.EADDRINUSE)
	refused(t, other.Bind(netip.MustParseAddrPort("[::1]:0")), exs.EAFNOSUPPORT)
	_, err := other.PeerName()
	refused(t, err, exs.ENOTCONN)
	refused(t, other.Listen(1), exs.EDESTADDRREQ)
	w.ok(other.Bind(loopback))
	refused(t, other.Bind(loopback), exs.EINVAL)
	from, err := other.SockName()
	w.ok(err)

	connected := make(chan struct{})
	go func() { // from an address that it is bound to
		defer close(connected)
		if err := other.BlockingConnect(addr); err != nil {
			t.Error(err)
		}
	}()
	s, peer, err := l.BlockingAccept()
	w.ok(err)
	if peer != from {
		t.Errorf("accepted %v, which is %v", peer, from)
	}
	here, err := s.SockName()
	w.ok(err)
	there, err := s.PeerName()
	w.ok(err)
	if here != addr || there != from {
		t.Errorf("%v and %v", here, there)
	}
	<-connected
	_, _, err = s.BlockingAccept()
	refused(t, err, exs.EINVAL)
	refused(t, l.BlockingConnect(addr), exs.EOPNOTSUPP)
	refused(t, s.BlockingConnect(addr), exs.EISCONN)
}

func TestConnectFails(t *testing.T) {
	w := newWorld(t, "mem")
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	w.ok(err)
	addr := ln.Addr().(*net.TCPAddr).AddrPort()
	s, q := w.socket(w.here, exs.Stream), w.queue(w.here)

	w.ok(s.Connect(addr, 0, 50*time.Millisecond, q, nil)) // nobody answers
	w.event(q, exs.EvtConnect, exs.ETIMEDOUT)

	w.ok(s.Connect(addr, 0, exs.Infinite, q, "cancelled"))
	refused(t, s.BlockingConnect(addr), exs.EALREADY)
	_, err = s.Write([]byte("x"))
	refused(t, err, exs.ENOTCONN)
	if n, err := s.Cancel("cancelled", 0); n != 1 || err != nil {
		t.Error(n, err)
	}
	w.event(q, exs.EvtConnect, exs.ECANCELED)

	go func() {
		for { // those that were cancelled, and the one that waits
			c, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = io.CopyN(io.Discard, c, 72)
			_, _ = c.Write(make([]byte, 1000))
			c.Close()
		}
	}()
	refused(t, s.BlockingConnect(addr), exs.EPROTO)
	w.ok(ln.Close())
	refused(t, s.BlockingConnect(addr), exs.ECONNREFUSED)

	_, there := w.listener(exs.SeqPacket)
	w.ok(s.Connect(there, 0, 50*time.Millisecond, q, nil)) // it has not called Accept
	w.event(q, exs.EvtConnect, exs.ETIMEDOUT)
	w.ok(s.Connect(there, 0, exs.Infinite, q, nil))
	w.ok(s.Close(0, q, nil))
	w.event(q, exs.EvtConnect, exs.ECANCELED)
	w.event(q, exs.EvtClose, 0)
}

func TestOtherType(t *testing.T) {
	w := newWorld(t, "mem")
	l, addr := w.listener(exs.SeqPacket)
	q := w.queue(w.there)
	_, err := l.Accept(make([]exs.AcceptAddr, 1), 0, q)
	w.ok(err)
	refused(t, w.socket(w.here, exs.Stream).BlockingConnect(addr), exs.EPROTO)
	w.none(q)
}

func TestBadArguments(t *testing.T) {
	w := newWorld(t, "mem")
	p := w.connect(exs.SeqPacket)
	b := make([]byte, 8)
	for name, err := range map[string]error{
		"send without a queue": second(p.a.Send(b, 0, nil, nil, nil)),
		"recv without a queue": second(p.a.Recv(b, 0, nil, nil, nil)),
		"send with WaitAll":    second(p.a.Send(b, exs.WaitAll, p.qa, nil, nil)),
		"another library's":    second(p.a.Send(b, 0, p.qb, nil, nil)),
		"shutdown of nothing":  p.a.Shutdown(0, 0, p.qa, nil),
		"close with a flag":    p.a.Close(exs.Peek, p.qa, nil),
		"accept of none":       second(p.a.Accept(nil, 0, p.qa)),
		"dequeue into nothing": second(p.qa.Dequeue(nil, 0)),
		"threshold":            second(p.qa.DequeueAtLeast(make([]exs.Event, 2), 3, 0)),
		"queue of nothing":     second(w.here.Queue(0)),
		"memory of nothing":    second(w.here.Register(nil, 0)),
		"cancel with a flag":   second(p.a.Cancel(nil, exs.Block)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		refused(t, err, exs.EINVAL)
	}
	var none *exs.Socket
	refused(t, none.BlockingClose(), exs.EBADF)
	_, err := none.Write(b)
	refused(t, err, exs.EBADF)
}

func second[T any](_ T, err error) error { return err }

func TestOptions(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		set := func(s *exs.Socket, cmd exs.Command, value, old int) {
			w.Helper()
			got, err := s.Fcntl(cmd, value)
			w.ok(err)
			if got != old {
				w.Errorf("command %d: %d, want %d", cmd, got, old)
			}
		}
		credits, small := 7, 100
		p := w.connect(typ, func(s *exs.Socket) {
			set(s, exs.SetFlowControlCredits, credits, 32)
			set(s, exs.GetFlowControlCredits, 0, credits)
			credits += 3
			if typ == exs.SeqPacket {
				set(s, exs.SetSPMaxSize, small, 0)
			} else {
				_, err := s.Fcntl(exs.GetSPMaxSize, 0)
				refused(w, err, exs.EOPNOTSUPP)
			}
			small += 50
			set(s, exs.SetCompThreadCPU, 1, exs.NotPinned)
			set(s, exs.SetFD, exs.FDBusyPoll, 0)
			set(s, exs.SetStreamBufSize, 1<<16, exs.DefaultStreamBuf)
			set(s, exs.SetInlineMaxSize, 16, value(w, s, exs.GetInlineMaxSize))
			set(s, exs.GetInlineMaxSize, 0, 16)
			set(s, exs.SetInlineMaxSize, 100, 16)
			set(s, exs.GetInlineMaxSize, 0, 100)
			_, err := s.Fcntl(exs.SetFlowControlCredits, 0)
			refused(w, err, exs.EINVAL)
			if !strings.Contains(err.Error(), "SetFlowControlCredits takes 1 to 1048576, not 0") {
				w.Error(err)
			}
			_, err = s.Fcntl(exs.GetStreamBufSize+1, 0)
			refused(w, err, exs.EINVAL)
		})
		for _, s := range []*exs.Socket{p.a, p.b} {
			set(s, exs.GetFlowControlCredits, 0, 7)
			set(s, exs.GetStreamBufSize, 0, 1<<16)
			if typ == exs.SeqPacket {
				set(s, exs.GetSPMaxSize, 0, 100)
			}
			for _, cmd := range []exs.Command{exs.SetFlowControlCredits, exs.SetInlineMaxSize, exs.SetFD, exs.SetStreamBufSize} {
				_, err := s.Fcntl(cmd, 1)
				refused(w, err, exs.EISCONN)
			}
			set(s, exs.SetCompThreadCPU, 0, 1)
			set(s, exs.SetFD, exs.FDNoDelay, exs.FDBusyPoll) // to poll can't be chosen any more, the rest can (7.5)
		}
	})
}

// A buffer of a few bytes, each of which would cost the sender a round trip, becomes the least one.
func TestLeastBuffer(t *testing.T) {
	w := newWorld(t, "mem")
	s := w.socket(w.here, exs.Stream)
	for asked, want := range map[int]int{1: exs.LeastStreamBuf, exs.LeastStreamBuf - 1: exs.LeastStreamBuf, exs.LeastStreamBuf + 1: exs.LeastStreamBuf + 1, 0: 0} {
		_, err := s.Fcntl(exs.SetStreamBufSize, asked)
		w.ok(err)
		if got := value(w, s, exs.GetStreamBufSize); got != want {
			t.Errorf("a buffer of %d is asked for, and there is one of %d, want %d", asked, got, want)
		}
	}
}

// A stream without a buffer does not delay anything (7.6).
func TestNoBufferMeansNoDelay(t *testing.T) {
	w := newWorld(t, "mem")
	s := w.socket(w.here, exs.Stream)
	_, err := s.Fcntl(exs.SetFD, exs.FDBusyPoll)
	w.ok(err)
	_, err = s.Fcntl(exs.SetStreamBufSize, 0)
	w.ok(err)
	if fd := value(w, s, exs.GetFD); fd != exs.FDBusyPoll|exs.FDNoDelay {
		t.Errorf("flags %#x", fd)
	}
}

// The domains are those of the system (4.1).
func TestDomains(t *testing.T) {
	w := newWorld(t, "mem")
	for _, domain := range []int{syscall.AF_INET, syscall.AF_INET6} {
		_, err := w.here.Socket(domain, exs.Stream, 0)
		w.ok(err)
	}
	_, err := w.here.Socket(syscall.AF_UNIX, exs.Stream, 0)
	refused(t, err, exs.EAFNOSUPPORT)
}

func value(w *world, s *exs.Socket, cmd exs.Command) int {
	w.Helper()
	v, err := s.Fcntl(cmd, 0)
	w.ok(err)
	return v
}

// Register and Deregister beside Library.Close say that the library was closed.
func TestRegisterBesideClose(t *testing.T) {
	testlength.Long(t)
	for range 200 {
		l, err := exs.Open(exs.Version1, mx.WithTransports("mem"))
		if err != nil {
			t.Fatal(err)
		}
		failed := make(chan error)
		go func() {
			for {
				m, err := l.Register(make([]byte, 4096), 0)
				if err == nil {
					err = m.Deregister(0)
				}
				if err != nil {
					failed <- err
					return
				}
			}
		}()
		time.Sleep(time.Millisecond)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-failed; !errors.Is(err, exs.ENETDOWN) || !errors.Is(err, net.ErrClosed) {
			t.Fatal(err)
		}
	}
}
