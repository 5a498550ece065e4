package exs_test

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"gomx/exs"
	"gomx/internal/testlength"
)

// A Write that ends with its deadline, at whatever moment, leaves its memory to the program: what is written there is not what the peer
// gets, nor does anybody read it.
func TestConnWriteDeadlineFreesMemory(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	for _, medium := range media {
		t.Run(medium, func(t *testing.T) {
			w := newWorld(t, medium)
			a, b := w.conns()
			byteAt := func(at int) byte { return byte(at * 7 >> 4) }
			read := make(chan int)
			go func() {
				at, mem := 0, make([]byte, 40_000)
				for i := 0; ; i++ {
					n, err := b.Read(mem[:1+i*7919%len(mem)])
					for _, got := range mem[:n] {
						if got != byteAt(at) {
							t.Errorf("byte %d is %#x", at, got)
							_ = b.Close()
							read <- at
							return
						}
						at++
					}
					if err != nil {
						if err != io.EOF {
							t.Error(err)
						}
						read <- at
						return
					}
					if i%16 == 0 {
						time.Sleep(time.Duration(i%5) * 200 * time.Microsecond)
					}
				}
			}()
			wrote, mem := 0, make([]byte, 400_000)
			for i, over := 0, time.Now().Add(500*time.Millisecond); time.Now().Before(over); i++ {
				piece := mem[:1+i*65_537%len(mem)]
				for k := range piece {
					piece[k] = byteAt(wrote + k)
				}
				_ = a.SetWriteDeadline(time.Now().Add(time.Duration(i*137%2000) * time.Microsecond))
				n, err := a.Write(piece)
				for k := range piece {
					piece[k] = 0xcc
				}
				wrote += n
				if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Error(err)
					break
				}
			}
			_ = a.SetWriteDeadline(time.Time{})
			w.ok(a.CloseWrite())
			if got := <-read; got != wrote {
				t.Errorf("%d bytes came, %d were written", got, wrote)
			}
		})
	}
}

// A deadline that has passed does not hide that the library was closed: a loop that goes on after a timeout ends.
func TestDeadlineOfAClosedLibrary(t *testing.T) {
	w := newWorld(t, "mem")
	l, err := w.here.Listen("exs", "127.0.0.1:0")
	w.ok(err)
	a, _ := w.conns()
	past := time.Now().Add(-time.Second)
	w.ok(a.SetDeadline(past))
	w.ok(l.(*exs.Listener).SetDeadline(past))
	_, late := a.Read(make([]byte, 1))
	if !errors.Is(late, os.ErrDeadlineExceeded) {
		t.Errorf("Read: %v", late)
	}
	w.ok(w.here.Close())
	_, read := a.Read(make([]byte, 1))
	_, wrote := a.Write(make([]byte, 1))
	_, accepted := l.Accept()
	for name, err := range map[string]error{
		"Read": read, "Write": wrote, "Accept": accepted, "SetDeadline": a.SetDeadline(past), "Listener.SetDeadline": l.(*exs.Listener).SetDeadline(past),
	} {
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: %v, want net.ErrClosed", name, err)
		}
	}
}
