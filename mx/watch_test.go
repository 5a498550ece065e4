package mx_test

import (
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mx"
)

func TestWatchEndsWithTheSession(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	over(t, func(w *world) {
		for _, c := range []struct {
			name string
			end  func(a, b *mx.Endpoint, toB, toA mx.EndpointAddr) error
		}{
			{"disconnect", func(a, _ *mx.Endpoint, toB, _ mx.EndpointAddr) error { return a.Disconnect(toB) }},
			{"the peer's disconnect", func(_, b *mx.Endpoint, _, toA mx.EndpointAddr) error { return b.Disconnect(toA) }},
			{"giving up", func(a, _ *mx.Endpoint, toB, _ mx.EndpointAddr) error { return a.GiveUp(toB) }},
			{"the peer's giving up", func(_, b *mx.Endpoint, _, toA mx.EndpointAddr) error { return b.GiveUp(toA) }},
			{"the peer's close", func(_, b *mx.Endpoint, _, _ mx.EndpointAddr) error { return b.Close() }},
		} {
			a, b, toB, toA := w.pair()
			r, err := a.Watch(toB, 7, "context")
			if err != nil {
				w.Fatal(c.name, err)
			}
			w.pending(a, r)
			w.succeed(a, w.isend(a, nil, toB, 1)) // which is not in its way
			w.arrived(b, 1, exact)
			if err := c.end(a, b, toB, toA); err != nil {
				w.Fatal(c.name, err)
			}
			st, ok, err := a.WaitAny(bound, 7, exact)
			if !ok || err != nil || st.Code == mx.StatusSuccess || st.Source != toB || st.Context != "context" {
				w.Fatalf("%s: %+v, %v, %v", c.name, st, ok, err)
			}
			late, err := a.Watch(toB, 7, nil)
			if err != nil {
				w.Fatal(c.name, err)
			}
			if st := w.done(a, late); st.Code == mx.StatusSuccess {
				w.Errorf("%s: a watch of an ended session: %+v", c.name, st)
			}
		}
	})
}

func TestWatchIsTakenBack(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		r, err := a.Watch(toB, 7, nil)
		if err != nil {
			w.Fatal(err)
		}
		if ok, err := a.Cancel(r); !ok || err != nil {
			w.Error(ok, err)
		}
		_, err = a.Cancel(r)
		refused(w, err, mx.ErrBadRequest, "cancel")
		_, err = b.Watch(toB, 7, nil)
		refused(w, err, mx.ErrBadEndpoint, "watch")
		own, err := a.Watch(a.Addr(), 7, nil)
		if err != nil {
			w.Fatal(err)
		}
		w.pending(a, own)
	})
}

// TestGiveUpKeepsWhatHasCome: what a peer had sent before it was given up is received, of what has arrived and of what had not. Nothing else comes of it.
func TestGiveUpKeepsWhatHasCome(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		w.succeed(b, w.isend(b, []byte("early"), toA, 1))
		waits, err := a.IrecvFrom(make([]byte, 8), toB, 3, exact, nil)
		if err != nil {
			w.Fatal(err)
		}
		w.arrived(a, 1, exact)
		w.succeed(b, w.isend(b, []byte("late"), toA, 2))
		if err := a.GiveUp(toB); err != nil {
			w.Fatal(err)
		}
		if st := w.done(a, waits); st.Code != mx.StatusTimeout {
			w.Errorf("a receive from who was given up: %v", st.Code)
		}
		for match, want := range map[uint64]string{1: "early", 2: "late"} {
			got := make([]byte, 8)
			r, err := a.IrecvFrom(got, toB, match, exact, nil)
			if err != nil {
				w.Fatal(err)
			}
			if st := w.done(a, r); st.Code != mx.StatusSuccess || string(got[:st.XferLength]) != want {
				w.Errorf("match %d: %v, %q", match, st.Code, got)
			}
		}
		if err := a.GiveUp(a.Addr()); err != nil {
			w.Error(err)
		}
		w.succeed(a, w.isend(a, nil, a.Addr(), 4))
		refused(w, b.GiveUp(toB), mx.ErrBadEndpoint, "give up")
	})
}

// givenUp gives a peer up, and returns a watch of the session.
func (w *world) givenUp(ep *mx.Endpoint, peer mx.EndpointAddr) mx.Request {
	w.Helper()
	watch, err := ep.Watch(peer, 0, nil)
	if err != nil {
		w.Fatal(err)
	}
	if err := ep.GiveUp(peer); err != nil {
		w.Fatal(err)
	}
	return watch
}

// TestGiveUpOfAPeerThatGoesOn: the session ends although the peer and this program go on sending.
func TestGiveUpOfAPeerThatGoesOn(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		watch := w.givenUp(a, toB)
		for _, buf := range [][]byte{nil, make([]byte, 100_000)} {
			if st := w.done(a, w.isend(a, buf, toB, 1)); st.Code != mx.StatusTimeout {
				w.Errorf("a send of %d bytes to who was given up: %v", len(buf), st.Code)
			}
		}
		if a.SendNow(nil, toB, 1) {
			w.Error("a message was sent to who was given up")
		}
		stop, over := make(chan bool), make(chan bool)
		go func() {
			defer close(over)
			for {
				select {
				case <-stop:
					return
				default:
					b.SendNow(nil, toA, 2)
					time.Sleep(time.Millisecond)
				}
			}
		}()
		if st := w.done(a, watch); st.Code != mx.StatusTimeout {
			w.Error(st.Code)
		}
		close(stop)
		<-over
	})
}

// TestConnectToWhoWasGivenUp: the next session begins at once, and ends the one that was given up.
func TestConnectToWhoWasGivenUp(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		watch := w.givenUp(a, toB)
		nic, id := place(w, b)
		again, err := a.Connect(nic, id, testFilter, bound)
		if err != nil {
			w.Fatal(err)
		}
		if st := w.done(a, watch); st.Code != mx.StatusTimeout {
			w.Errorf("the watch of the session that was given up: %v", st.Code)
		}
		w.succeed(a, w.isend(a, pattern(8, 1), again, 1))
		got := make([]byte, 8)
		w.succeed(b, w.irecv(b, got, 1, exact))
		w.same(got, pattern(8, 1))
		if st := w.done(a, w.isend(a, nil, toB, 2)); st.Code != mx.StatusBadSession {
			w.Errorf("a send to the address that was given up: %v", st.Code)
		}
	})
}

// A message without a request arrives like others, in its turn.
func TestSendNow(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		if a.SendNow(pattern(8, 0), toA, 1) {
			w.Error("to another endpoint's address")
		}
		const count = 3000 // more than a link holds
		now := 0
		for i := range count {
			buf := pattern(16, byte(i))
			if a.SendNow(buf, toB, uint64(i)) {
				now++
				clear(buf)
			} else if err := a.Forget(w.isend(a, buf, toB, uint64(i))); err != nil {
				w.Fatal(err)
			}
		}
		for i := range count {
			in := make([]byte, 16)
			st := w.succeed(b, w.irecv(b, in, uint64(i), exact))
			if st.MsgLength != 16 || string(in) != string(pattern(16, byte(i))) {
				w.Fatalf("message %d: %+v, % x", i, st, in)
			}
		}
		if now == 0 {
			w.Error("none went at once")
		}
		if err := b.Close(); err != nil {
			w.Fatal(err)
		}
		w.until("the peer is gone", func() bool { return !a.SendNow(nil, toB, 1) }, a)
	})
}
