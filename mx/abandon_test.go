package mx_test

import (
	"testing"

	"gomx/mx"
)

// abandoned gives a request up, and reports what became of it.
func (w *world) abandoned(ep *mx.Endpoint, r mx.Request, want mx.Fate) mx.Status {
	w.Helper()
	fate, st, err := ep.Abandon(r)
	if fate != want || err != nil {
		w.Fatalf("abandon: %v, %v, want %v", fate, err, want)
	}
	_, _, err = ep.Abandon(r)
	refused(w, err, mx.ErrBadRequest, "abandon")
	return st
}

func TestAbandonedReceiveLeavesTheMessage(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		given, buf := []byte{0xee}, make([]byte, 1)
		w.abandoned(b, w.irecv(b, given, 1, exact), mx.FateCancelled)
		w.sendUnexpected(a, b, []byte{1}, toB, 1)
		w.succeed(b, w.irecv(b, buf, 1, exact))
		w.same(buf, []byte{1})
		w.same(given, []byte{0xee})
	})
}

func TestAbandonedSendGoesOn(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		large, buf := pattern(200_000, 3), make([]byte, 200_000)
		w.abandoned(a, w.issend(a, large, toB, 1), mx.FateInUse)
		recv := w.irecv(b, buf, 1, exact)
		w.until("it has come", func() bool { _, ok, _ := b.Ipeek(); return ok }, a, b)
		w.succeed(b, recv)
		w.same(buf, large)
		if _, ok, _ := a.Ipeek(); ok {
			w.Error("somebody is told of the end of a send that was given up")
		}
	})
}

func TestAbandonCollectsWhatIsComplete(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		recv := w.irecv(b, make([]byte, 4), 1, exact)
		w.isend(a, pattern(4, 1), toB, 1)
		w.until("it is complete", func() bool { _, ok, _ := b.Ipeek(); return ok }, b)
		if st := w.abandoned(b, recv, mx.FateEnded); st.Code != mx.StatusSuccess || st.XferLength != 4 {
			w.Errorf("status %+v", st)
		}
	})
}

// The memory of a send that was detached is the program's: what is written there is not what the peer gets.
func TestDetachedSend(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for _, late := range []bool{false, true} {
			large, buf := pattern(200_000, 3), make([]byte, 200_000)
			var recv mx.Request
			send := w.issend(a, large, toB, 1)
			if late {
				recv = w.irecv(b, buf, 1, exact)
			}
			if _, free, err := a.Detach(send); !free || err != nil {
				w.Fatal(free, err)
			}
			clear(large)
			if !late {
				recv = w.irecv(b, buf, 1, exact)
			}
			w.until("it has come", func() bool { st, ok, _ := b.Test(recv); return ok && st.Code == mx.StatusSuccess }, a, b)
			w.succeed(a, send)
			w.same(buf, pattern(200_000, 3))
			_, _, err := a.Detach(send)
			refused(w, err, mx.ErrBadRequest, "detach")
			_, _, err = b.Detach(send)
			refused(w, err, mx.ErrBadRequest, "detach")
		}
	})
}

// The memory of a get that was detached is the program's, whether or not the peer goes on. The bytes come into the copy.
func TestDetachedGet(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for _, n := range []int{100, 200_000} {
			win, err := b.OpenWindow(pattern(n, 4), mx.WindowRead)
			if err != nil {
				w.Fatal(err)
			}
			if err := b.DisableProgression(); err != nil {
				w.Fatal(err)
			}
			buf := make([]byte, n)
			r, err := a.Iget(buf, toB, win.Handle(), 0, 1, nil)
			if err != nil {
				w.Fatal(err)
			}
			if _, done, err := a.Test(r); done || err != nil {
				w.Fatalf("a get from who does nothing: done %v, %v", done, err)
			}
			mem, free, err := a.Detach(r)
			if len(mem) != n || !free || err != nil {
				w.Fatalf("a get of %d bytes goes on with %d, free %v: %v", n, len(mem), free, err)
			}
			if err := b.ReenableProgression(); err != nil {
				w.Fatal(err)
			}
			w.until("the get has ended", func() bool { st, ok, _ := a.Test(r); return ok && st.Code == mx.StatusSuccess }, a, b)
			w.same(mem, pattern(n, 4))
			w.same(buf, make([]byte, n))
			if err := win.Close(); err != nil {
				w.Error(err)
			}
		}
	})
}
