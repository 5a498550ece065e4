package mx_test

import (
	"testing"

	"gomx/mx"
)

// Nobody calls the receiver, which is told of what has completed, each time anew.
func TestUnattendedEndpointIsToldOfCompletions(t *testing.T) {
	over(t, func(w *world) {
		told := make(chan struct{}, 100)
		a := w.open()
		b := w.open(mx.WithUnattended(func() { told <- struct{}{} }))
		toB := w.connect(a, b)
		for i := range uint64(3) {
			r := w.irecv(b, make([]byte, 100_000), i, exact)
			w.succeed(a, w.isend(a, pattern(100_000, 1), toB, i))
			receive(w, "a word about the completion", told)
			if st, done, err := b.Test(r); !done || err != nil || st.Code != mx.StatusSuccess {
				w.Fatalf("told, and not complete: %+v, %v", st, err)
			}
		}
	})
}
