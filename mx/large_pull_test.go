package mx_test

import (
	"slices"
	"testing"
	"time"

	"gomx/mx"
)

// TestOthersDuringALargePull receives 2 GiB over shared memory. What another peer sends meanwhile arrives, and a
// timeout passes, before it is complete.
func TestOthersDuringALargePull(t *testing.T) {
	w := newWorld(t, "shm")
	e, a := w.open(), w.open()
	fromA := w.connect(a, e)
	const tries = 3 // a test that loses its core for long finds that the endpoint's own goroutine has copied all
	for try := 1; ; try++ {
		message, timeout := duringLargePull(w, e, a, fromA)
		if message && timeout {
			return
		}
		if try == tries {
			t.Fatalf("what came before the large message was complete: a small one %v, a timeout %v", message, timeout)
		}
	}
}

// duringLargePull reports whether a small message of another peer and a timeout came before the end of a large
// message of a.
func duringLargePull(w *world, e, a *mx.Endpoint, fromA mx.EndpointAddr) (message, timeout bool) {
	const parts, part = 256, 8 << 20 // all parts lie at the same place, so that this needs little memory
	many := func() [][]byte { return slices.Repeat([][]byte{make([]byte, part)}, parts) }
	b := w.open()
	toB, fromB := w.connect(e, b), w.connect(b, e)
	send, err := a.Isendv(many(), fromA, 1, nil)
	if err != nil {
		w.Fatal(err)
	}
	w.arrived(e, 1, exact)
	never := w.issend(e, nil, toB, 3) // which b does not receive
	large, err := e.Irecvv(many(), 1, exact, nil)
	if err != nil {
		w.Fatal(err)
	}
	w.succeed(b, w.isend(b, make([]byte, 8), fromB, 2))
	w.succeed(e, w.irecv(e, make([]byte, 8), 2, exact))
	if err := e.SetRequestTimeout(never, time.Millisecond); err != nil {
		w.Fatal(err)
	}
	st, done, err := e.Test(large)
	message = !done
	for over := false; !over && !done; {
		if _, over, err = e.Test(never); err != nil {
			w.Fatal(err)
		}
		if over {
			st, done, err = e.Test(large)
			timeout = !done
		}
	}
	if !done && err == nil {
		st, _, err = e.Wait(large, bound)
	}
	if err != nil || st.Code != mx.StatusSuccess || st.XferLength != parts*part {
		w.Fatalf("the large message: %+v, %v", st, err)
	}
	w.succeed(a, send)
	return message, timeout
}
