package mx_test

import (
	"bytes"
	"testing"

	"gomx/mx"
)

func TestIX11CancelledReceiveIsGone(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		buf := []byte{0xee}
		recv := w.irecv(b, buf, 1, exact)
		if ok, err := b.Cancel(recv); !ok || err != nil {
			w.Fatal(ok, err)
		}
		_, _, err := b.Test(recv)
		refused(w, err, mx.ErrBadRequest, "test")
		_, err = b.Cancel(recv)
		refused(w, err, mx.ErrBadRequest, "cancel")
		w.sendUnexpected(a, b, []byte{1}, toB, 1)
		if buf[0] != 0xee {
			w.Error("the cancelled receive's buffer was written to")
		}
		w.succeed(b, w.irecv(b, buf, 1, exact))
		if buf[0] != 1 {
			w.Error("the message is lost")
		}
		if _, ok, _ := b.Ipeek(); ok {
			w.Error("a completion too many")
		}
	})
}

func TestIX11TooLateToCancel(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for _, n := range []int{0, 100, 200_000} {
			buf := make([]byte, n)
			recv := w.irecv(b, buf, 1, exact)
			w.isend(a, pattern(n, 1), toB, 1)
			w.until("it has matched", func() bool { return counter(w, b, "posted receives") == 0 }, b)
			if ok, err := b.Cancel(recv); ok || err != nil {
				w.Fatalf("%d bytes: %v, %v", n, ok, err)
			}
			w.succeed(b, recv)
			if !bytes.Equal(buf, pattern(n, 1)) {
				w.Errorf("%d bytes arrived changed", n)
			}
		}
	})
}

func TestIX11CancelTakesOneOfSeveral(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		var recvs []mx.Request
		for range 6 {
			recvs = append(recvs, w.irecv(b, make([]byte, 1), 1, exact))
		}
		for _, i := range []int{0, 3, 5} {
			if ok, err := b.Cancel(recvs[i]); !ok || err != nil {
				w.Fatal(ok, err)
			}
		}
		for _, i := range []int{1, 2, 4} {
			w.isend(a, []byte{byte(i)}, toB, 1)
		}
		for _, i := range []int{1, 2, 4} {
			w.succeed(b, recvs[i])
		}
	})
}

func TestIX11SendsCannotBeCancelled(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		send := w.sendUnexpected(a, b, make([]byte, 100_000), toB, 1)
		_, err := a.Cancel(send)
		refused(w, err, mx.ErrCancelNotSupported, "cancel", a.String())
		small := w.isend(a, nil, toB, 2)
		_, err = a.Cancel(small)
		refused(w, err, mx.ErrCancelNotSupported)
		w.succeed(a, small)
		w.succeed(b, w.irecv(b, make([]byte, 100_000), 1, exact))
		w.succeed(a, send)
	})
}

func TestIX12ForgottenRequestsEndSilently(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for _, n := range sizes {
			buf := make([]byte, n)
			recv := w.irecv(b, buf, 1, exact)
			send := w.isend(a, pattern(n, 1), toB, 1)
			for _, f := range []struct {
				ep *mx.Endpoint
				r  mx.Request
			}{{a, send}, {b, recv}} {
				if err := f.ep.Forget(f.r); err != nil {
					w.Fatal(err)
				}
				_, _, err := f.ep.Test(f.r)
				refused(w, err, mx.ErrBadRequest)
				refused(w, f.ep.Forget(f.r), mx.ErrBadRequest, "forget")
			}
			w.until("both are freed", func() bool {
				return counter(w, a, "requests in use") == 0 && counter(w, b, "requests in use") == 0
			}, a, b)
			if !bytes.Equal(buf, pattern(n, 1)) {
				w.Errorf("%d bytes arrived changed", n)
			}
			for _, ep := range []*mx.Endpoint{a, b} {
				if _, ok, err := ep.Ipeek(); ok || err != nil {
					w.Errorf("%d bytes: a completion: %v", n, err)
				}
			}
		}
	})
}

func TestIX12ForgettingACompleteRequest(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		recv := w.irecv(a, nil, 1, exact)
		w.succeed(a, w.isend(a, nil, a.Addr(), 1))
		if r, ok, err := a.Ipeek(); !ok || err != nil || r != recv {
			w.Fatal(r, ok, err)
		}
		if err := a.Forget(recv); err != nil {
			w.Fatal(err)
		}
		if _, ok, _ := a.Ipeek(); ok {
			w.Error("it is still shown")
		}
		if n := counter(w, a, "requests in use"); n != 0 {
			w.Errorf("%d requests are in use", n)
		}
	})
}
