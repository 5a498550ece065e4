package mx_test

import (
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
