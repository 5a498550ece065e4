package mx_test

import (
	"bytes"
	"testing"
	"time"

	"gomx/mx"
)

// untilPuts polls a window until it has seen so many puts.
func (w *world) untilPuts(win *mx.Window, n uint64) {
	w.Helper()
	for end := time.Now().Add(bound); ; {
		puts, _, err := win.Poll()
		if err != nil {
			w.Fatal(err)
		}
		if puts >= n {
			return
		}
		if time.Now().After(end) {
			w.Fatalf("%d puts of %d after %v", puts, n, bound)
		}
	}
}

// A put without a request is in the window when the window counts it, and before any
// message that follows it.
func TestPutsWithoutRequest(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for _, r := range []route{{a, b, toB}, {a, a, a.Addr()}} {
			win := openWindow(w, r.to, make([]byte, 1000), readWrite)
			seen := uint64(0)
			for i, n := range []int{0, 1, 8, 16, 17, 40, 900} {
				data := pattern(n, byte(i))
				buf := bytes.Clone(data)
				sent, err := r.from.Put(buf, r.addr, win.Handle(), 50)
				if err != nil {
					w.Fatal(err)
				}
				clear(buf) // it is ours again
				if !sent {
					w.Fatalf("%d bytes can't leave, with nothing under way", n)
				}
				seen++
				w.untilPuts(win, seen)
				if !bytes.Equal(win.Bytes()[50:][:n], data) {
					w.Fatalf("%d bytes: the window holds others", n)
				}
			}
			get := w.iget(r.from, make([]byte, 10), r.addr, win.Handle(), 0)
			w.succeed(r.from, get)
			if _, gets, err := win.Poll(); gets != 1 || err != nil {
				w.Errorf("%d gets, %v", gets, err)
			}
			if sent, err := r.from.Put(make([]byte, 1), r.addr, win.Handle(), 1000); !sent || err != nil {
				w.Errorf("%v, %v: only the peer knows the window", sent, err)
			}
			if err := win.Close(); err != nil {
				w.Error(err)
			}
			if puts, gets, err := win.Poll(); puts != 0 || gets != 0 || err != nil {
				w.Errorf("closed: %d, %d, %v", puts, gets, err)
			}
		}
	})
}
