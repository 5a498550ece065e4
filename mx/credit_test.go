package mx_test

import (
	"errors"
	"testing"

	"gomx/mx"
)

// TestLateReceiver sends more than a receiver has room for, whole or as headers, after a
// large message. Meanwhile everything else goes on in both directions, and then all of it
// is received in order.
func TestLateReceiver(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		b := w.open(mx.WithUnexpQueueMax(32<<10), mx.WithUnexpHeaders(300))
		toB := w.connect(a, b)
		const large, n = 300_000, 3000
		sends := []mx.Request{w.isend(a, pattern(large, 1), toB, 0)}
		for i := range n {
			sends = append(sends, w.isend(a, pattern([]int{500, 30_000}[i%64/63], byte(i)), toB, uint64(1+i)))
		}
		w.until("sends wait for credit", func() bool { return counter(w, a, "sends that waited for credit") > 0 }, a, b)
		toA := w.connect(b, a)
		w.connect(a, b)
		recv := w.irecv(a, make([]byte, 100), 7, exact)
		sync, err := b.Issend(pattern(100, 0), toA, 7, nil)
		if err != nil {
			w.Fatal(err)
		}
		w.succeed(a, recv)
		w.succeed(b, sync)
		win, err := a.OpenWindow(make([]byte, 64), mx.WindowRead|mx.WindowWrite)
		if err != nil {
			w.Fatal(err)
		}
		for _, access := range []func([]byte, mx.EndpointAddr, mx.WindowHandle, uint32, uint64, any) (mx.Request, error){b.Iput, b.Iget} {
			r, err := access(make([]byte, 64), toA, win.Handle(), 0, 8, nil)
			if err != nil {
				w.Fatal(err)
			}
			w.succeed(b, r)
		}
		buf := make([]byte, large)
		for i := range sends {
			if st := w.succeed(b, w.irecv(b, buf, 0, everything)); st.MatchInfo != uint64(i) {
				w.Fatalf("receive %d got message %d", i, st.MatchInfo)
			}
		}
		for _, r := range sends {
			w.succeed(a, r)
		}
	})
}

// TestConnectToFullPeer connects again and again to a peer that receives nothing of what
// each session leaves there, until it refuses. The error says what is to be done, and
// when the peer has received, it takes us again.
func TestConnectToFullPeer(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		b := w.open(mx.WithUnexpQueueMax(8<<10), mx.WithUnexpReserve(4<<10))
		nic, id := place(w, b)
		stored := 0
		var err error
		for range 20 {
			var toB mx.EndpointAddr
			if toB, err = a.Connect(nic, id, testFilter, bound); err != nil {
				break
			}
			w.succeed(a, w.isend(a, make([]byte, 1500), toB, 1))
			stored++
			w.until("the messages are there", func() bool { return counter(w, b, "unexpected messages") == uint64(stored) }, b)
			if err := a.Disconnect(toB); err != nil {
				w.Fatal(err)
			}
		}
		refused(w, err, mx.ErrConnectionFailed, "connect", b.String(), "at the peer", "receive them first", "MX_UNEXP_BYTES")
		if !errors.Is(err, mx.StatusNoResources) {
			w.Errorf("%v does not wrap the status", err)
		}
		for range stored {
			w.succeed(b, w.irecv(b, make([]byte, 1500), 1, exact))
		}
		w.connect(a, b)
	})
}
