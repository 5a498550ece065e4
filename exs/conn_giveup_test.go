package exs_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"gomx/exs"
)

// still makes a library's endpoint do nothing, as that of a process that is stopped, until the function returned is called.
func (w *world) still(l *exs.Library) (goOn func()) {
	w.Helper()
	ep, err := l.Endpoint()
	w.ok(err)
	w.ok(ep.DisableProgression())
	return func() { w.ok(ep.ReenableProgression()) }
}

// The deadline of a Read passes while its bytes are on their way, and the peer does not go on. They are not written to the memory of that Read, and a later one
// has them.
func TestConnReadGivenUp(t *testing.T) {
	for _, medium := range media[1:] {
		t.Run(medium, func(t *testing.T) {
			w := newWorld(t, medium)
			a, b := w.conns()
			want := pattern(1<<20, 3)
			mem := make([]byte, len(want))
			got := 0
			ended := make(chan error)
			_ = a.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
			go func() {
				n, err := a.Read(mem)
				got = n
				ended <- err
			}()
			time.Sleep(50 * time.Millisecond) // by then the peer knows of the memory
			goOn := w.still(w.there)
			wrote := make(chan error)
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
			rest := make([]byte, len(want)-got)
			_ = a.SetReadDeadline(time.Now().Add(bound))
			for at := 0; at < len(rest); {
				_ = a.SetReadDeadline(time.Now().Add(bound))
				n, err := a.Read(rest[at:min(at+100_000, len(rest))])
				w.ok(err)
				at += n
			}
			w.ok(<-wrote)
			w.same(append(mem[:got:got], rest...), want)
			w.same(mem[got:], kept[got:])
			w.ok(b.Close())
			if n, err := a.Read(mem); n != 0 || err != io.EOF {
				t.Errorf("%d bytes, %v", n, err)
			}
		})
	}
}
