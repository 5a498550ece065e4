package mx_test

import (
	"bytes"
	"errors"
	"testing"

	"gomx/mx"
)

// recvNow receives, and waits where that is not over at once. It returns how long the message is.
func (w *world) recvNow(ep *mx.Endpoint, buf []byte, src mx.EndpointAddr, match uint64) int {
	w.Helper()
	n, r, err := ep.RecvNow(buf, src, match, exact)
	if err != nil {
		w.Fatal(err)
	}
	if r.IsZero() {
		return n
	}
	return int(w.succeed(ep, r).XferLength)
}

func TestReceiveNow(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		for _, n := range sizes {
			for _, arrived := range []bool{true, false} {
				out, in := pattern(n, 3), make([]byte, n+1)
				var send mx.Request
				if arrived {
					send = w.sendUnexpected(a, b, out, toB, 5)
				} else {
					send = w.isend(a, out, toB, 5)
				}
				if got := w.recvNow(b, in, toA, 5); got != n || !bytes.Equal(in[:n], out) {
					w.Errorf("%d bytes, arrived %v: %d bytes", n, arrived, got)
				}
				w.succeed(a, send)
			}
		}
		_, r, err := b.RecvNow(make([]byte, 8), toA, 6, exact)
		if r.IsZero() || err != nil {
			w.Fatalf("nothing was sent: %v, %v", r, err)
		}
		w.pending(b, r)
		send := w.isend(a, make([]byte, 8), toB, 6)
		w.succeed(b, r)
		w.succeed(a, send)
	})
}

// howNow returns how a receive ends that does not end well, whether at once or later.
func (w *world) howNow(ep *mx.Endpoint, buf []byte, src mx.EndpointAddr, match uint64) mx.Status {
	w.Helper()
	_, r, err := ep.RecvNow(buf, src, match, exact)
	if failed, ok := errors.AsType[*mx.StatusError](err); ok && r.IsZero() {
		return failed.Status
	}
	if err != nil || r.IsZero() {
		w.Fatalf("request %v, %v", r, err)
	}
	return w.done(ep, r)
}

func TestReceiveNowEndsOtherwise(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		w.sendUnexpected(a, b, pattern(100, 1), toB, 5)
		if st := w.howNow(b, make([]byte, 60), toA, 5); st.Code != mx.StatusTruncated || st.MsgLength != 100 || st.XferLength != 60 {
			w.Errorf("a message that is too long: %+v", st)
		}
		_, _, err := a.RecvNow(nil, toA, 1, exact)
		refused(w, err, mx.ErrBadEndpoint, "recv now")
		_, _, err = a.RecvNow(nil, toB, 1, 0)
		refused(w, err, mx.ErrBadMatchMask, "recv now", toB.String())
		if err := b.Close(); err != nil {
			w.Fatal(err)
		}
		if st := w.howNow(a, nil, toB, 7); st.Code == mx.StatusSuccess {
			w.Errorf("of a peer that has closed: %+v", st)
		}
		_, _, err = b.RecvNow(nil, toA, 1, exact)
		refused(w, err, mx.ErrBadEndpoint, "recv now")
	})
}
