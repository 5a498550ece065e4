package mx_test

import (
	"testing"
	"time"

	"gomx/mx"
)

// A program that has armed its endpoint, and then does something else, lets its peers wait for a moment at most, and is woken all the same.
func TestArmedAndBusy(t *testing.T) {
	over(t, func(w *world) {
		if w.medium == "mem" {
			w.Skip("nothing to poll")
		}
		a, b, toB, _ := w.pair()
		fd, err := b.PollFD()
		if err != nil {
			w.Fatal(err)
		}
		win, err := b.OpenWindow(make([]byte, 8), mx.WindowRead)
		if err != nil {
			w.Fatal(err)
		}
		handle, large := win.Handle(), make([]byte, 1<<20)
		r := w.irecv(b, make([]byte, len(large)), 1, exact)
		if armed, err := b.Arm(); !armed || err != nil {
			w.Fatal(armed, err)
		}
		for range 3 {
			get, err := a.Iget(make([]byte, 8), toB, handle, 0, 2, nil)
			if err != nil {
				w.Fatal(err)
			}
			w.succeed(a, get)
			time.Sleep(50 * time.Millisecond) // it is quiet for a while
		}
		w.succeed(a, w.isend(a, large, toB, 1))
		if asleep(w, fd, bound) {
			w.Error("a receive is complete, and nobody is woken")
		}
		w.succeed(b, r)
		if err := win.Close(); err != nil {
			w.Error(err)
		}
	})
}
