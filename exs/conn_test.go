package exs_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/nettest"

	"gomx/exs"
	"gomx/internal/testlength"
)

// connected runs a test over each medium, with two ends of a connection.
func connected(t *testing.T, f func(t *testing.T, a, b *exs.Conn)) {
	t.Helper()
	for _, medium := range media {
		t.Run(medium, func(t *testing.T) {
			w := newWorld(t, medium)
			a, b := w.conns()
			f(t, a, b)
		})
	}
}

// conns connects two Conns.
func (w *world) conns() (a, b *exs.Conn) {
	w.Helper()
	ln, err := w.there.Listen("exs", "127.0.0.1:0")
	w.ok(err)
	defer ln.Close()
	c, err := w.here.Dial("exs", ln.Addr().String())
	w.ok(err)
	d, err := ln.Accept()
	w.ok(err)
	w.Cleanup(func() { _, _ = c.Close(), d.Close() })
	return c.(*exs.Conn), d.(*exs.Conn)
}

func TestConnNet(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	for _, medium := range media {
		t.Run(medium, func(t *testing.T) {
			w := newWorld(t, medium)
			nettest.TestConn(t, func() (a, b net.Conn, stop func(), err error) {
				c, d := w.conns()
				return c, d, func() { _, _ = c.Close(), d.Close() }, nil
			})
		})
	}
}

func TestConnHalfClose(t *testing.T) {
	connected(t, func(t *testing.T, a, b *exs.Conn) {
		want := pattern(300_000, 1)
		go func() {
			_, _ = a.Write(want)
			_ = a.CloseWrite()
		}()
		got, err := io.ReadAll(b)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
		if _, err := b.Write([]byte("answer")); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Write([]byte("more")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("Write after CloseWrite: %v", err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(a); string(got) != "answer" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestConnCloseRead(t *testing.T) {
	connected(t, func(t *testing.T, a, b *exs.Conn) {
		if err := a.CloseRead(); err != nil {
			t.Fatal(err)
		}
		if n, err := a.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("%d, %v", n, err)
		}
		_ = b.SetWriteDeadline(time.Now().Add(bound))
		for {
			if _, err := b.Write([]byte("into the void")); err != nil {
				if !errors.Is(err, syscall.EPIPE) {
					t.Errorf("Write to one who does not read: %v", err)
				}
				return
			}
		}
	})
}

func TestConnCopies(t *testing.T) {
	connected(t, func(t *testing.T, a, b *exs.Conn) {
		want := pattern(5_000_000, 9)
		go func() {
			n, err := a.ReadFrom(bytes.NewReader(want))
			if n != int64(len(want)) || err != nil {
				t.Errorf("ReadFrom: %d, %v", n, err)
			}
			_ = a.Close()
		}()
		var got bytes.Buffer
		if n, err := b.WriteTo(&got); n != int64(len(want)) || err != nil {
			t.Errorf("WriteTo: %d, %v", n, err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Error("not the bytes that were sent")
		}
	})
}

// TestConnWritesWhole has many goroutines write at once: none of their pieces is
// torn.
func TestConnWritesWhole(t *testing.T) {
	connected(t, func(t *testing.T, a, b *exs.Conn) {
		const writers, each, size = 8, 50, 5000
		var all sync.WaitGroup
		for i := range writers {
			all.Go(func() {
				for range each {
					if _, err := a.Write(bytes.Repeat([]byte{byte(i)}, size)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		piece := make([]byte, size)
		var count [writers]int
		for range writers * each {
			if _, err := io.ReadFull(b, piece); err != nil {
				t.Fatal(err)
			}
			if bytes.Count(piece, piece[:1]) != size {
				t.Fatal("a piece was torn")
			}
			count[piece[0]]++
		}
		all.Wait()
		for i, n := range count {
			if n != each {
				t.Errorf("%d pieces of writer %d", n, i)
			}
		}
	})
}

// TestConnWriteDeadline writes until nothing fits any more, lets the deadline pass,
// and finds the stream whole afterwards.
func TestConnWriteDeadline(t *testing.T) {
	connected(t, func(t *testing.T, a, b *exs.Conn) {
		all := pattern(20_000_000, 4)
		_ = a.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
		sent, err := a.Write(all)
		if !errors.Is(err, os.ErrDeadlineExceeded) || sent == len(all) {
			t.Fatalf("%d, %v", sent, err)
		}
		if e, ok := err.(net.Error); !ok || !e.Timeout() {
			t.Errorf("%v is no timeout", err)
		}
		go func() {
			_ = a.SetWriteDeadline(time.Time{})
			if n, err := a.Write(all[sent:]); n != len(all)-sent || err != nil {
				t.Errorf("%d, %v", n, err)
			}
			_ = a.Close()
		}()
		if got, err := io.ReadAll(b); err != nil || !bytes.Equal(got, all) {
			t.Errorf("%d bytes of %d, %v", len(got), len(all), err)
		}
	})
}

// TestConnMovedDeadline moves deadlines while somebody waits for them.
func TestConnMovedDeadline(t *testing.T) {
	connected(t, func(t *testing.T, a, b *exs.Conn) {
		_ = b.SetReadDeadline(time.Now().Add(time.Hour))
		ended := make(chan error)
		go func() {
			_, err := b.Read(make([]byte, 8000))
			ended <- err
		}()
		_ = b.SetReadDeadline(time.Now().Add(2 * time.Hour))
		_ = b.SetReadDeadline(time.Unix(1, 0))
		if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		_ = b.SetReadDeadline(time.Time{})
		want := pattern(8000, 2)
		if _, err := a.Write(want); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 8000)
		if _, err := io.ReadFull(b, got); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("after the deadline: %v", err)
		}
	})
}

func TestConnClosed(t *testing.T) {
	connected(t, func(t *testing.T, a, b *exs.Conn) {
		ended := make(chan error)
		go func() {
			_, err := a.Read(make([]byte, 1))
			ended <- err
		}()
		go func() {
			_, err := a.Write(make([]byte, 50_000_000))
			ended <- err
		}()
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := <-ended; !errors.Is(err, net.ErrClosed) {
				t.Error(err)
			}
		}
		for name, err := range map[string]error{
			"Close": a.Close(), "CloseWrite": a.CloseWrite(), "CloseRead": a.CloseRead(),
			"SetDeadline": a.SetDeadline(time.Now()),
		} {
			if !errors.Is(err, net.ErrClosed) {
				t.Errorf("%s after Close: %v", name, err)
			}
		}
	})
}

func TestConnLibraryClosed(t *testing.T) {
	w := newWorld(t, "mem")
	a, b := w.conns()
	ended := make(chan error)
	go func() {
		_, err := a.Read(make([]byte, 1))
		ended <- err
	}()
	go func() {
		_, err := b.Read(make([]byte, 1))
		ended <- err
	}()
	w.ok(w.here.Close())
	for range 2 {
		if err := <-ended; err == nil || err == io.EOF {
			t.Errorf("a connection of a closed library: %v", err)
		}
	}
	if _, err := a.Write([]byte("x")); !errors.Is(err, net.ErrClosed) && !errors.Is(err, exs.ECONNRESET) {
		t.Error(err)
	}
	_ = a.Close()
}

func TestConnAddrs(t *testing.T) {
	w := newWorld(t, "mem")
	a, b := w.conns()
	if a.LocalAddr().String() != b.RemoteAddr().String() || a.RemoteAddr().String() != b.LocalAddr().String() {
		t.Errorf("%v %v %v %v", a.LocalAddr(), b.RemoteAddr(), a.RemoteAddr(), b.LocalAddr())
	}
	if a.LocalAddr().Network() != "exs" {
		t.Error(a.LocalAddr().Network())
	}
}

func TestConnAllocates(t *testing.T) {
	w := newWorld(t, "shm")
	a, b := w.conns()
	for _, size := range []int{64, 4096, 20_000} {
		out, in := make([]byte, size), make([]byte, size)
		round := func() {
			_, _ = a.Write(out)
			_, _ = io.ReadFull(b, in)
		}
		for range 200 {
			round()
		}
		if n := testing.AllocsPerRun(500, round); n != 0 && !raceDetector {
			t.Errorf("%v allocations for %d bytes", n, size)
		}
	}
}
