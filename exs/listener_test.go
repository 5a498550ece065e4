package exs_test

import (
	"context"
	"errors"
	"flag"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gomx/exs"
	"gomx/internal/testlength"
	"gomx/mx"
)

func (w *world) listens() *exs.Listener {
	w.Helper()
	ln, err := w.there.Listen("exs", "127.0.0.1:0")
	w.ok(err)
	w.Cleanup(func() { _ = ln.Close() })
	return ln.(*exs.Listener)
}

func TestListenerEnds(t *testing.T) {
	ln := newWorld(t, "mem").listens()
	ended := make(chan error)
	for range 3 {
		go func() {
			_, err := ln.Accept()
			ended <- err
		}()
	}
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	}
	if err := ln.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the second Close: %v", err)
	}
	if err := ln.SetDeadline(time.Now()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("SetDeadline after Close: %v", err)
	}
}

func TestListenerDeadline(t *testing.T) {
	w := newWorld(t, "mem")
	ln := w.listens()
	ended := make(chan error)
	go func() {
		_, err := ln.Accept()
		ended <- err
	}()
	w.ok(ln.SetDeadline(time.Now().Add(10 * time.Millisecond)))
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	w.ok(ln.SetDeadline(time.Time{}))
	c, err := w.here.Dial("exs", ln.Addr().String())
	w.ok(err)
	defer c.Close()
	d, err := ln.Accept()
	w.ok(err)
	w.ok(d.Close())
}

// TestListenerMany accepts many connections in several goroutines.
func TestListenerMany(t *testing.T) {
	w := newWorld(t, "mem")
	ln := w.listens()
	const dialers, each = 8, 10
	var all sync.WaitGroup
	for range dialers {
		all.Go(func() {
			for range each {
				c, err := w.here.Dial("exs", ln.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				_ = c.Close()
			}
		})
	}
	var accepted sync.WaitGroup
	for range dialers {
		accepted.Go(func() {
			for range each {
				c, err := ln.Accept()
				if err != nil {
					t.Error(err)
					return
				}
				_ = c.Close()
			}
		})
	}
	all.Wait()
	accepted.Wait()
}

func TestListenerNames(t *testing.T) {
	w := newWorld(t, "mem")
	for _, network := range []string{"exs", "exs4", "tcp", "tcp4"} {
		ln, err := w.there.Listen(network, ":0")
		w.ok(err)
		_, port, _ := net.SplitHostPort(ln.Addr().String())
		for _, host := range []string{"127.0.0.1", "localhost", ""} {
			c, err := w.here.Dial(network, net.JoinHostPort(host, port))
			w.ok(err)
			w.ok(c.Close())
		}
		w.ok(ln.Close())
	}
	if ln, err := w.there.Listen("exs6", "[::1]:0"); err == nil {
		c, err := w.here.Dial("exs", ln.Addr().String())
		w.ok(err)
		w.ok(c.Close())
		w.ok(ln.Close())
	} else {
		t.Logf("no IPv6: %v", err)
	}
	for _, bad := range [][2]string{{"udp", "127.0.0.1:1"}, {"exs", "127.0.0.1"}, {"exs6", "127.0.0.1:1"}, {"exs", "127.0.0.1:no such service"}} {
		var e *net.OpError
		if _, err := w.there.Listen(bad[0], bad[1]); !errors.As(err, &e) {
			t.Errorf("Listen%q: %v", bad, err)
		}
		if _, err := w.here.Dial(bad[0], bad[1]); !errors.As(err, &e) {
			t.Errorf("Dial%q: %v", bad, err)
		}
	}
}

// The error of Dial says what lies behind its number.
func TestDialSaysWhy(t *testing.T) {
	w := newWorld(t, "mem")
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	w.ok(err)
	defer ln.Close()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("220 mail.example.com ESMTP"))
			_ = c.Close()
		}
	}()
	_, err = w.here.Dial("exs", ln.Addr().String())
	if refused(t, err, exs.EPROTO); err == nil || !strings.Contains(err.Error(), "not an exs listener") {
		t.Errorf("a mail server: %v", err)
	}
}

func TestListenerNobody(t *testing.T) {
	w := newWorld(t, "mem")
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	w.ok(err)
	defer ln.Close()
	for range 50 {
		ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
		_, err := w.here.DialContext(ctx, "exs", ln.Addr().String())
		if e, ok := errors.AsType[net.Error](err); !errors.Is(err, context.DeadlineExceeded) || !ok || !e.Timeout() {
			t.Errorf("one who says nothing: %v", err)
		}
		stop()
	}
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		c, err := ln.Accept()
		if err == nil {
			defer c.Close()
		}
		stop()
		<-ctx.Done()
	}()
	if _, err := w.here.DialContext(ctx, "exs", ln.Addr().String()); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that is cancelled: %v", err)
	}
	addr := ln.Addr().String()
	_ = ln.Close()
	if _, err := w.here.Dial("exs", addr); !errors.Is(err, exs.ECONNREFUSED) {
		t.Errorf("nobody: %v", err)
	}
}

// A dial without a deadline ends all the same when nobody says anything.
func TestDialIsBounded(t *testing.T) {
	w := newWorld(t, "mem")
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	w.ok(err)
	defer ln.Close()
	w.here.SetDialTime(time.Millisecond)
	w.within("the dial", func() { _, err = w.here.Dial("exs", ln.Addr().String()) })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// hangsUp listens until the test ends, and closes each connection, after something else has been done to it.
func hangsUp(w *world, before func(c *net.TCPConn)) net.Listener {
	w.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	w.ok(err)
	w.Cleanup(func() { _ = ln.Close() })
	go func() {
		for c, err := ln.Accept(); err == nil; c, err = ln.Accept() {
			before(c.(*net.TCPConn))
			_ = c.Close()
		}
	}()
	return ln
}

// One who hangs up, and a peer of another secret, are named as such.
func TestDialNamesRefusals(t *testing.T) {
	w := newWorld(t, "mem")
	ln := hangsUp(w, func(*net.TCPConn) {})
	if _, err := w.here.Dial("exs", ln.Addr().String()); err == nil || !strings.Contains(err.Error(), "ended the handshake") {
		t.Errorf("one who hangs up: %v", err)
	}
	there, here := w.open(mx.WithTransports("tcp"), mx.WithSecret([]byte("a"))), w.open(mx.WithTransports("tcp"), mx.WithSecret([]byte("b")))
	listener, err := there.Listen("exs", "127.0.0.1:0")
	w.ok(err)
	defer listener.Close()
	if _, err = here.Dial("exs", listener.Addr().String()); err == nil || !strings.Contains(err.Error(), "secret") {
		t.Errorf("another secret: %v", err)
	}
}

// One who hangs up is named as such also if the system learns of it before it tells that it has connected.
func TestDialNamesResets(t *testing.T) {
	w := newWorld(t, "mem")
	ln := hangsUp(w, func(c *net.TCPConn) { _ = c.SetLinger(0) })
	var dials sync.WaitGroup
	for range 100 {
		dials.Go(func() {
			if _, err := w.here.Dial("exs", ln.Addr().String()); err == nil || !strings.Contains(err.Error(), "ended the handshake") {
				t.Error(err)
			}
		})
	}
	dials.Wait()
}

var strangers = flag.Int("exs.strangers", exs.MaxPending+200, "strangers of each kind who connect in TestCrowdOfStrangers")

// Far more strangers than there are places connect and say nothing, or hello and nothing more, or also that they are done though they have not come to
// the endpoint, and stay. Clients are served meanwhile.
func TestCrowdOfStrangers(t *testing.T) {
	testlength.Long(t)
	w := newWorld(t, "mem")
	ln := w.listens()
	greeting := append([]byte("gomx exs\x01\x00\x01"), make([]byte, 61)...)
	greeting[36] = exs.DefaultCredits
	for kind, says := range map[string]string{"mute": "", "hello": string(greeting), "done": string(greeting) + "\xe5"} {
		t.Run(kind, func(t *testing.T) {
			for range *strangers {
				c, err := net.Dial("tcp", ln.Addr().String())
				if errors.Is(err, syscall.EMFILE) {
					t.Skipf("this machine lets a process have fewer than %d descriptors (ulimit -n): %v", *strangers+exs.MaxPending, err)
				}
				w.ok(err)
				defer c.Close()
				_, _ = c.Write([]byte(says)) // it may have been sent out already
			}
			took := []float64{}
			for range 5 {
				client := w.open(mx.WithTransports("mem")) // whose first connection is made over TCP
				ctx, stop := context.WithTimeout(t.Context(), bound)
				began := time.Now()
				c, err := client.DialContext(ctx, "exs", ln.Addr().String())
				stop()
				w.ok(err)
				took = append(took, time.Since(began).Seconds())
				d, err := ln.Accept()
				w.ok(err)
				w.ok(c.Close())
				w.ok(d.Close())
			}
			t.Logf("among %d strangers, seconds of dials one after the other: %.4f", *strangers, took)
		})
	}
}
