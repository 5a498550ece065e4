package mx_test

import (
	"testing"

	"gomx/mx"
)

// traffic is what an endpoint has counted of messages.
type traffic struct{ sent, sentBytes, received, receivedBytes uint64 }

func (w *world) traffic(ep *mx.Endpoint) traffic {
	w.Helper()
	return traffic{counter(w, ep, "messages sent"), counter(w, ep, "bytes sent"), counter(w, ep, "messages received"), counter(w, ep, "bytes received")}
}

// TestHandledMessagesAreReceived: a message that the handler ends has been received, and its bytes if it came with them.
func TestHandledMessagesAreReceived(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		calls := record(w, b, mx.RecvFinished)
		for i, size := range []int{10, 100, 200_000} {
			w.isend(a, pattern(size, 0), toB, uint64(i))
		}
		w.until("three calls", func() bool { return len(calls.all()) == 3 }, a, b)
		if out, in := w.traffic(a), w.traffic(b); in != (traffic{0, 0, 3, 110}) || out != (traffic{3, 110, 0, 0}) {
			w.Errorf("sender %+v, receiver %+v", out, in)
		}
		if over := counter(w, b, "received over "+w.medium); over != 3 {
			w.Errorf("%d received over %s", over, w.medium)
		}
	})
}

// TestHandledMessagesToOneself has the handler end messages of the endpoint itself.
func TestHandledMessagesToOneself(t *testing.T) {
	over(t, func(w *world) {
		ep := w.open()
		calls := record(w, ep, mx.RecvFinished)
		for i, size := range []int{10, 200_000} {
			w.isend(ep, pattern(size, 0), ep.Addr(), uint64(i))
		}
		w.until("two calls", func() bool { return len(calls.all()) == 2 }, ep)
		if got := w.traffic(ep); got != (traffic{2, 200_010, 2, 200_010}) {
			w.Errorf("%+v", got)
		}
	})
}

// TestUnexpectedBytesAreReceived: the bytes of a message that waits for its receive count together with it, and once, however few of them are taken.
func TestUnexpectedBytesAreReceived(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		check := func(ep *mx.Endpoint, to mx.EndpointAddr, sender traffic, want traffic) {
			w.Helper()
			for match := range uint64(2) {
				w.sendUnexpected(a, ep, pattern(100, 0), to, match)
			}
			for _, receives := range []int{0, 2} {
				if receives > 0 {
					w.succeed(ep, w.irecv(ep, make([]byte, 100), 0, exact))
					w.done(ep, w.irecv(ep, make([]byte, 30), 1, exact))
				}
				if out, in := w.traffic(a), w.traffic(ep); out != sender || in != want {
					w.Errorf("after %d receives: sender %+v, receiver %+v", receives, out, in)
				}
			}
		}
		check(b, toB, traffic{2, 200, 0, 0}, traffic{0, 0, 2, 200})
		check(a, a.Addr(), traffic{4, 400, 2, 200}, traffic{4, 400, 2, 200})
		r := w.irecv(b, make([]byte, 30), 7, exact) // which cuts a message that it was posted for
		w.succeed(a, w.isend(a, pattern(100, 0), toB, 7))
		w.done(b, r)
		if in := w.traffic(b); in != (traffic{0, 0, 3, 300}) {
			w.Errorf("%+v", in)
		}
	})
}
