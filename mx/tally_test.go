package mx_test

import (
	"testing"
	"time"

	"gomx/endpoint"
	"gomx/internal/testlength"
)

// TestTimeInCallsWithOneself: messages to oneself come without a pass, and their calls are sampled all the same.
func TestTimeInCallsWithOneself(t *testing.T) {
	testlength.Long(t)
	if !endpoint.Counting {
		t.Skip("it was built with the tag mx_nocounters, and counts nothing")
	}
	w := newWorld(t, "mem")
	a := w.open()
	for began := time.Now(); len(a.Tallies()) == 0 || a.Tallies()[0].InCalls == 0; {
		if time.Since(began) > bound {
			t.Fatal("they take no time")
		}
		for range 1000 {
			send := w.isend(a, []byte("self"), a.Addr(), 7)
			w.done(a, w.irecv(a, make([]byte, 4), 7, exact))
			w.done(a, send)
		}
	}
}
