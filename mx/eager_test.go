package mx_test

import (
	"testing"

	"gomx/mx"
)

// EagerTo is where a medium's eager messages end.
func TestEagerTo(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), w.open(mx.WithUnexpReserve(1<<20))
		toB := w.connect(a, b)
		most, err := a.EagerTo(toB)
		if err != nil || most < 1023 {
			w.Fatal(most, err)
		}
		for _, c := range []struct {
			size  int
			label string
		}{{most, "sent eager"}, {most + 1, "sent rendezvous"}} {
			before := counter(w, a, c.label)
			r := w.irecv(b, make([]byte, c.size), 1, exact)
			s := w.isend(a, make([]byte, c.size), toB, 1)
			w.succeed(b, r)
			w.succeed(a, s)
			if got := counter(w, a, c.label); got != before+1 {
				w.Errorf("%d bytes, with eager ones up to %d: %s %d times", c.size, most, c.label, got-before)
			}
		}
		_, err = b.EagerTo(toB)
		refused(w, err, mx.ErrBadEndpoint, "eager to")
		if n, err := a.EagerTo(a.Addr()); err != nil || n <= 0 {
			w.Errorf("to itself: %d, %v", n, err)
		}
	})
}
