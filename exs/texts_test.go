package exs_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"gomx/exs"
	"gomx/internal/testlength"
	"gomx/mx"
)

// says checks that an error's text has what its reader needs.
func says(t testing.TB, err error, words ...string) {
	t.Helper()
	for _, word := range words {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%v does not say %q", err, word)
		}
	}
}

// A dial that has waited in vain says for what.
func TestDialSaysWhatItWaitedFor(t *testing.T) {
	w := newWorld(t, "mem")
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	w.ok(err)
	defer mute.Close()
	full, addr := w.listener(exs.Stream)
	w.ok(full.Listen(1))
	_, err = exs.Poll([]exs.PollEntry{{Socket: full, Events: exs.PollIn}}, 0) // clients may come
	w.ok(err)
	first, err := w.here.Dial("exs", addr.String())
	w.ok(err)
	defer first.Close()
	for _, c := range []struct {
		at   string
		word string
	}{{mute.Addr().String(), "no file descriptor left (ulimit -n)"}, {addr.String(), "if its queue is full"}} {
		err := w.timesOut(c.at, c.word)
		if e, ok := errors.AsType[net.Error](err); !errors.Is(err, context.DeadlineExceeded) || !ok || !e.Timeout() {
			t.Errorf("%s: %v", c.word, err)
		}
		says(t, err, c.word)
	}
	err = w.inVain("if its queue is full", func(timeout time.Duration) error {
		return w.socket(w.here, exs.Stream).Connect(addr, exs.Block, timeout, nil, nil)
	})
	refused(t, err, exs.ETIMEDOUT)
	says(t, err, "if its queue is full")

	_, _, err = full.BlockingAccept() // the first; those that have given up are not accepted
	w.ok(err)
	ended := make(chan error)
	go func() {
		c, err := w.here.Dial("exs", addr.String())
		if err == nil {
			_, err = c.Write([]byte("here"))
		}
		ended <- err
	}()
	s, _, err := full.BlockingAccept()
	w.ok(err)
	got := make([]byte, 9)
	n, err := s.Read(got)
	w.ok(err)
	w.same(got[:n], []byte("here"))
	w.ok(<-ended)
}

// A connect without time has not tried anything, and says nothing of the other side.
func TestConnectWithoutTime(t *testing.T) {
	w := newWorld(t, "mem")
	_, addr := w.listener(exs.Stream)
	err := w.socket(w.here, exs.Stream).Connect(addr, exs.Block, 0, nil, nil)
	refused(t, err, exs.ETIMEDOUT)
	says(t, err, "before the connect began")
}

// A dial beside the end of the library, and one after it, say that it was closed.
func TestDialLibraryClosed(t *testing.T) {
	w := newWorld(t, "mem")
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	w.ok(err)
	defer mute.Close()
	ended := make(chan error)
	go func() {
		_, err := w.here.Dial("exs", mute.Addr().String())
		ended <- err
	}()
	c, err := mute.Accept()
	w.ok(err)
	defer c.Close()
	w.ok(w.here.Close())
	err = <-ended
	for range 2 {
		if !errors.Is(err, net.ErrClosed) || errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		says(t, err, "the library was closed")
		_, err = w.here.Dial("exs", mute.Addr().String())
	}
}

// A listener whose endpoint no transport of ours reaches is not one that refuses.
func TestDialNoWay(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	w := newWorld(t, "mem")
	for _, there := range []string{"mem", "shm", "tcp"} {
		host := w.open(mx.WithTransports(there))
		ln, err := host.Listen("exs", "127.0.0.1:0")
		w.ok(err)
		for _, here := range []string{"mem", "shm", "tcp"} {
			if here == there {
				continue
			}
			_, err = w.open(mx.WithTransports(here)).Dial("exs", ln.Addr().String())
			t.Log(err)
			refused(t, err, exs.EHOSTUNREACH)
			says(t, err, "MX_TRANSPORT")
			if strings.Contains(err.Error(), "MX_SECRET") {
				t.Errorf("to %s over %s: %v", there, here, err)
			}
		}
		w.ok(ln.Close())
	}
}

// A server that ends between its hello and the connect to its endpoint refuses, whatever becomes of that connect.
func TestDialServerThatEnds(t *testing.T) {
	w := newWorld(t, "mem")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	w.ok(err)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_ = l.Close()
		hello := make([]byte, 72)
		_, _ = io.ReadFull(c, hello)
		binary.LittleEndian.PutUint32(hello[20:], 12345) // an endpoint that is not there any more
		_, _ = c.Write(hello)
		time.Sleep(10 * time.Millisecond) // a process that ends closes one descriptor after the other
		_ = c.Close()
	}()
	_, err = w.here.Dial("exs", l.Addr().String())
	refused(t, err, exs.ECONNREFUSED)
	if err != nil && strings.Contains(err.Error(), "MX_TRANSPORT") {
		t.Error(err)
	}
}

// What fails on a connection names its peer.
func TestErrorsNameThePeer(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		p := w.connect(typ)
		peer, err := p.a.PeerName()
		w.ok(err)
		w.ok(p.b.Close(exs.Block|exs.DontLinger, nil, nil))
		_, err = p.a.BlockingRecv(make([]byte, 8), 0, exs.Unregistered)
		says(t, err, "recv", peer.String())
		_, err = p.a.Write(make([]byte, 8))
		says(t, err, "send", peer.String())
		if e, ok := errors.AsType[*exs.Error](err); !ok || e.Peer != peer {
			t.Errorf("%#v", err)
		}
		_, err = p.a.Accept(make([]exs.AcceptAddr, 1), 0, p.qa)
		refused(t, err, exs.EINVAL)
	})
}

// A Poll that waits ends with the library, and finds the sockets closed.
func TestPollLibraryClosed(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		p := w.connect(typ)
		entries := []exs.PollEntry{{Socket: p.a, Events: exs.PollIn}}
		n, err := 0, error(nil)
		ended := make(chan struct{})
		go func() {
			n, err = exs.Poll(entries, exs.Infinite)
			close(ended)
		}()
		w.ok(w.here.Close())
		w.within("Poll", func() { <-ended })
		if err != nil && !errors.Is(err, exs.ENETDOWN) || err == nil && (n != 1 || entries[0].Revents&(exs.PollNval|exs.PollErr) == 0) {
			t.Errorf("%d, %v, %v", n, err, entries[0].Revents)
		}
	})
}

// A program that breaks off within its handshake has ended it, and has none to show.
func TestDialHalfAHandshake(t *testing.T) {
	w := newWorld(t, "mem")
	for _, n := range []int{1, 8, 71} {
		_, err := w.here.Dial("exs", w.faker(func(c net.Conn) {
			hello := make([]byte, 72)
			_, _ = io.ReadFull(c, hello)
			_, _ = c.Write(hello[:n])
		}))
		refused(t, err, exs.EPROTO)
		says(t, err, "the other side ended the handshake")
	}
}
