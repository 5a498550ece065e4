package exs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/nettest"

	"gomx/exs"
	"gomx/internal/testlength"
	"gomx/mx"
)

// packetConns connects two SeqPacketConns.
func (w *world) packetConns() (a, b *exs.SeqPacketConn) {
	w.Helper()
	ln, err := w.there.Listen("exspacket", "127.0.0.1:0")
	w.ok(err)
	defer ln.Close()
	c, err := w.here.Dial("exspacket", ln.Addr().String())
	w.ok(err)
	d, err := ln.Accept()
	w.ok(err)
	w.Cleanup(func() { _, _ = c.Close(), d.Close() })
	for _, end := range []net.Conn{c, d} {
		w.ok(end.SetDeadline(time.Now().Add(3 * bound)))
	}
	return c.(*exs.SeqPacketConn), d.(*exs.SeqPacketConn)
}

// packetsConnected runs a test over each medium, with two ends of a connection.
func packetsConnected(t *testing.T, f func(w *world, a, b *exs.SeqPacketConn)) {
	t.Helper()
	for _, medium := range media {
		t.Run(medium, func(t *testing.T) {
			w := newWorld(t, medium)
			w.TB = t
			a, b := w.packetConns()
			f(w, a, b)
		})
	}
}

func TestSeqPacketConnNet(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	for _, medium := range media {
		t.Run(medium, func(t *testing.T) {
			w := newWorld(t, medium)
			nettest.TestConn(t, func() (a, b net.Conn, stop func(), err error) {
				c, d := w.packetConns()
				_, _ = c.SetDeadline(time.Time{}), d.SetDeadline(time.Time{})
				return c, d, func() { _, _ = c.Close(), d.Close() }, nil
			})
		})
	}
}

// Each Write is a packet of its own, whatever its size, and each Read takes one.
func TestSeqPacketConnKeepsMessagesApart(t *testing.T) {
	packetsConnected(t, func(w *world, a, b *exs.SeqPacketConn) {
		sizes := []int{1, 0, 16, 4096, 3, 100_000, 0, 2_000_000, 7}
		wrote := make(chan error, 1)
		go func() {
			for i, size := range sizes {
				if n, err := a.Write(pattern(size, byte(i))); n != size || err != nil {
					wrote <- err
					return
				}
			}
			wrote <- a.CloseWrite()
		}()
		mem := make([]byte, 3_000_000)
		for i, size := range sizes {
			n, err := b.Read(mem)
			w.ok(err)
			w.same(mem[:n], pattern(size, byte(i)))
		}
		if n, err := b.Read(mem); n != 0 || err != io.EOF {
			w.Errorf("behind the last packet: %d bytes, %v", n, err)
		}
		w.ok(<-wrote)
		if _, err := a.Write([]byte("more")); !errors.Is(err, syscall.EPIPE) {
			w.Errorf("Write after CloseWrite: %v", err)
		}
		_, err := b.Write([]byte("answer"))
		w.ok(err)
		n, err := a.Read(mem)
		w.ok(err)
		w.same(mem[:n], []byte("answer"))
	})
}

// What has no room is lost, as with unixpacket, and ReadPacket says how much it was.
func TestSeqPacketConnCuts(t *testing.T) {
	packetsConnected(t, func(w *world, a, b *exs.SeqPacketConn) {
		for _, size := range []int{5, 100_000} {
			wrote := make(chan error, 1)
			go func() {
				for range 3 {
					if _, err := a.Write(pattern(size, 1)); err != nil {
						wrote <- err
						return
					}
				}
				_, err := a.Write([]byte("next"))
				wrote <- err
			}()
			mem := bytes.Repeat([]byte{0xaa}, size)
			n, err := b.Read(mem[:3])
			w.ok(err)
			w.same(mem[:n], pattern(size, 1)[:3])
			n, lost, err := b.ReadPacket(mem[:2])
			w.ok(err)
			if n != 2 || lost != size-2 {
				w.Errorf("%d bytes, %d lost of %d", n, lost, size)
			}
			if n, err := b.Read(mem[:0]); n != 0 || err != nil { // takes nothing
				w.Errorf("%d bytes, %v", n, err)
			}
			n, lost, err = b.ReadPacket(mem)
			w.ok(err)
			if lost != 0 {
				w.Errorf("%d lost", lost)
			}
			w.same(mem[:n], pattern(size, 1))
			n, err = b.Read(mem)
			w.ok(err)
			w.same(mem[:n], []byte("next"))
			w.ok(<-wrote)
		}
	})
}

// The end of a peer is the end of the packets, behind those that it has sent; one that takes nothing ends Writes.
func TestSeqPacketConnEnds(t *testing.T) {
	packetsConnected(t, func(w *world, a, b *exs.SeqPacketConn) {
		_, err := a.Write([]byte("last"))
		w.ok(err)
		w.ok(a.Close())
		mem := make([]byte, 8)
		n, err := b.Read(mem)
		w.ok(err)
		w.same(mem[:n], []byte("last"))
		if n, err := b.Read(mem); n != 0 || err != io.EOF {
			w.Errorf("%d bytes, %v", n, err)
		}
		w.within("a Write to one who has closed", func() {
			for err = nil; err == nil; {
				_, err = b.Write(mem)
			}
		})
		if !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
			w.Error(err)
		}
		says(w, err, "exspacket")
		for _, call := range []func() error{
			func() error { _, err := a.Read(mem); return err },
			func() error { _, err := a.Write(mem); return err },
			a.Close, a.CloseRead, a.CloseWrite,
			func() error { return a.SetDeadline(time.Now()) },
		} {
			if err := call(); !errors.Is(err, net.ErrClosed) {
				w.Errorf("after Close: %v", err)
			}
		}
	})
}

// Close ends a Read and a Write that wait.
func TestSeqPacketConnCloseEndsWaits(t *testing.T) {
	packetsConnected(t, func(w *world, a, b *exs.SeqPacketConn) {
		ended := make(chan error, 2)
		go func() {
			_, err := a.Read(make([]byte, 8))
			ended <- err
		}()
		go func() {
			for {
				if _, err := a.Write(make([]byte, 512)); err != nil { // until the credits are used up
					ended <- err
					return
				}
			}
		}()
		time.Sleep(20 * time.Millisecond)
		w.within("Close", func() { w.ok(a.Close()) })
		for range 2 {
			if err := <-ended; !errors.Is(err, net.ErrClosed) {
				w.Error(err)
			}
		}
	})
}

// A Write whose deadline passes has sent its packet or nothing, and its memory is free.
func TestSeqPacketConnWriteGivenUp(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	for _, medium := range media[1:] {
		t.Run(medium, func(t *testing.T) {
			w := newWorld(t, medium)
			a, b := w.packetConns()
			const size = 300_000
			goOn := w.still(w.there)
			mem, count, tries := make([]byte, size), 0, 0
			w.ok(a.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)))
			var err error
			for err == nil && count < 100 {
				copy(mem, pattern(size, byte(count)))
				var n int
				if n, err = a.Write(mem); err == nil {
					count++
				} else if n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("%d bytes, %v", n, err)
				} else if count == 0 && tries < 20 { // the machine is busy
					tries, err = tries+1, nil
				}
				clear(mem)
				_ = a.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
			}
			if err == nil || count == 0 {
				t.Errorf("%d packets are on their way to one who does not read, %v", count, err)
			}
			goOn()
			_ = a.SetWriteDeadline(time.Now().Add(bound))
			wrote := make(chan error, 1)
			go func() {
				_, err := a.Write([]byte("behind"))
				wrote <- err
			}()
			in := make([]byte, size)
			for i := range count {
				n, err := b.Read(in)
				w.ok(err)
				w.same(in[:n], pattern(size, byte(i)))
			}
			n, err := b.Read(in)
			w.ok(err)
			w.same(in[:n], []byte("behind"))
			w.ok(<-wrote)
		})
	}
}

// A Read whose deadline passes while its packet is on its way leaves it to the next Read, and its memory alone.
func TestSeqPacketConnReadGivenUp(t *testing.T) {
	testlength.Long(t)
	for _, medium := range media[1:] {
		t.Run(medium, func(t *testing.T) {
			w := newWorld(t, medium)
			a, b := w.packetConns()
			want := pattern(1<<20, 3)
			mem := make([]byte, len(want))
			got := 0
			ended := make(chan error, 1)
			_ = a.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
			go func() {
				n, err := a.Read(mem)
				got = n
				ended <- err
			}()
			time.Sleep(50 * time.Millisecond)
			goOn := w.still(w.there)
			wrote := make(chan error, 1)
			go func() {
				_, err := b.Write(want)
				wrote <- err
			}()
			select {
			case err := <-ended:
				if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Fatal(err)
				}
			case <-time.After(bound):
				goOn()
				t.Fatal("the Read goes on")
			}
			kept := bytes.Clone(mem)
			goOn()
			_ = a.SetReadDeadline(time.Now().Add(bound))
			if got == 0 {
				later := make([]byte, len(want)+1)
				n, err := a.Read(later)
				w.ok(err)
				w.same(later[:n], want)
				w.same(mem, kept)
			} else {
				w.same(mem[:got], want)
			}
			w.ok(<-wrote)
		})
	}
}

// The addresses are those of the network, and so is a type that the listener does not have.
func TestSeqPacketConnNames(t *testing.T) {
	w := newWorld(t, "mem")
	a, _ := w.packetConns()
	for _, addr := range []net.Addr{a.LocalAddr(), a.RemoteAddr()} {
		if _, ok := addr.(exs.SeqPacketAddr); !ok || addr.Network() != "exspacket" {
			t.Errorf("%T of network %s", addr, addr.Network())
		}
	}
	for _, networks := range [][2]string{{"exspacket", "exs"}, {"exs", "exspacket"}} {
		ln, err := w.there.Listen(networks[0], "127.0.0.1:0")
		w.ok(err)
		if ln.Addr().Network() != networks[0] {
			t.Errorf("a listener of %s has an address of %s", networks[0], ln.Addr().Network())
		}
		_, err = w.here.Dial(networks[1], ln.Addr().String())
		refused(t, err, exs.EPROTO)
		w.ok(ln.Close())
	}
	for _, network := range []string{"exspacket4", "exspacket6"} {
		ln, err := w.there.Listen(network, "localhost:0")
		if err != nil {
			t.Logf("%s: %v", network, err)
			continue
		}
		c, err := (&exs.Dialer{Library: w.here}).DialContext(t.Context(), network, ln.Addr().String())
		w.ok(err)
		w.ok(c.Close())
		w.ok(ln.Close())
	}
}

// Connections have no descriptor of their own, and claim none: package net's callers would use it behind our back.
func TestConnHasNoDescriptor(t *testing.T) {
	for _, c := range []any{&exs.Conn{}, &exs.SeqPacketConn{}, &exs.Listener{}} {
		if _, ok := c.(syscall.Conn); ok {
			t.Errorf("%T has a SyscallConn", c)
		}
		if _, ok := c.(interface{ File() (*os.File, error) }); ok {
			t.Errorf("%T has a File", c)
		}
	}
}

// Packets are written and read without allocation.
func TestSeqPacketConnAllocates(t *testing.T) {
	for _, medium := range []string{"mem", "shm", "tcp"} {
		t.Run(medium, func(t *testing.T) {
			w := newWorld(t, medium)
			a, b := w.packetConns()
			for _, size := range []int{64, 2000} {
				mem := make([]byte, size)
				n := testing.AllocsPerRun(500, func() {
					_, err := a.Write(mem)
					w.ok(err)
					_, err = b.Read(mem)
					w.ok(err)
				})
				if n != 0 && !raceDetector {
					t.Errorf("%v allocations for %d bytes", n, size)
				}
			}
		})
	}
}

// A large Write that its own side's Close meets has sent its packet or nothing, and says which.
func TestSeqPacketCloseBesideWrite(t *testing.T) {
	packetsConnected(t, func(w *world, a, b *exs.SeqPacketConn) {
		sent := make([]byte, 1<<20)
		type result struct {
			n   int
			err error
		}
		ended := make(chan result, 1)
		go func() {
			n, err := a.Write(sent)
			ended <- result{n, err}
		}()
		time.Sleep(5 * time.Millisecond) // so that it mostly waits by then
		closed := make(chan error, 1)
		go func() { closed <- a.Close() }()
		time.Sleep(5 * time.Millisecond) // it waits for the peer, too
		got := make([]byte, len(sent))
		n, err := b.Read(got)
		switch r := <-ended; {
		case r.n == len(sent) && r.err == nil:
			w.ok(err)
			w.same(got[:n], sent)
			n, err = b.Read(got)
		case r.n != 0 || !errors.Is(r.err, net.ErrClosed):
			w.Errorf("Write: %d, %v", r.n, r.err)
		}
		if n != 0 || err != io.EOF {
			w.Errorf("%d bytes and %v at the end", n, err)
		}
		w.ok(<-closed)
	})
}

// A packet that is too large says how large it may be. Its memory is never touched.
func TestPacketThatIsTooLarge(t *testing.T) {
	most := uint64(mx.MaxMessage)
	if most > math.MaxInt {
		t.Skip("no slice is as long on this processor")
	}
	b, err := syscall.Mmap(-1, 0, int(most+1), syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip("no room for so many addresses: ", err)
	}
	defer func() { _ = syscall.Munmap(b) }()
	a, _ := newWorld(t, "mem").packetConns()
	_, err = a.Write(b)
	if !errors.Is(err, exs.EMSGSIZE) || !strings.Contains(err.Error(), fmt.Sprint(most)) {
		t.Error(err)
	}
}
