package mx_test

import (
	"bytes"
	"testing"

	"gomx/mx"
)

func (w *world) irecvFrom(ep *mx.Endpoint, buf []byte, src mx.EndpointAddr, match, mask uint64) mx.Request {
	w.Helper()
	r, err := ep.IrecvFrom(buf, src, match, mask, "context")
	if err != nil {
		w.Fatal(err)
	}
	return r
}

// ends are the ways in which a session ends.
var ends = map[string]func(a, b *mx.Endpoint, toB, toA mx.EndpointAddr) error{
	"disconnect":            func(a, _ *mx.Endpoint, toB, _ mx.EndpointAddr) error { return a.Disconnect(toB) },
	"the peer's disconnect": func(_, b *mx.Endpoint, _, toA mx.EndpointAddr) error { return b.Disconnect(toA) },
	"the peer's close":      func(_, b *mx.Endpoint, _, _ mx.EndpointAddr) error { return b.Close() },
}

func TestReceiveFromEndsWithTheSession(t *testing.T) {
	over(t, func(w *world) {
		for name, end := range ends {
			a, b, toB, toA := w.pair()
			c := w.open()
			toC := w.connect(a, c)
			r, other := w.irecvFrom(a, make([]byte, 8), toB, 7, exact), w.irecvFrom(a, nil, toC, 8, exact)
			anyone := w.irecv(a, nil, 9, exact)
			w.pending(a, r)
			if err := end(a, b, toB, toA); err != nil {
				w.Fatal(name, err)
			}
			st := w.done(a, r)
			if st.Code == mx.StatusSuccess || st.Source != toB || st.Context != "context" || st.MatchInfo != 7 || st.XferLength != 0 {
				w.Errorf("%s: %+v", name, st)
			}
			w.pending(a, other)
			w.pending(a, anyone)
			if late := w.done(a, w.irecvFrom(a, nil, toB, 7, exact)); late.Code != st.Code {
				w.Errorf("%s: of a session that has ended: %v, before %v", name, late.Code, st.Code)
			}
		}
	})
}

func TestReceiveFromTakesWhatHasArrived(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		for i := range 3 {
			w.sendUnexpected(b, a, pattern(100, byte(i)), toA, uint64(i))
		}
		if err := b.Close(); err != nil {
			w.Fatal(err)
		}
		watch, err := a.Watch(toB, 0, nil)
		if err != nil {
			w.Fatal(err)
		}
		gone := w.done(a, watch)
		for i := range 3 {
			in := make([]byte, 100)
			st := w.succeed(a, w.irecvFrom(a, in, toB, 0, everything))
			if st.MatchInfo != uint64(i) || !bytes.Equal(in, pattern(100, byte(i))) {
				w.Errorf("message %d: %+v", i, st)
			}
		}
		if st := w.done(a, w.irecvFrom(a, nil, toB, 0, everything)); st.Code != gone.Code {
			w.Errorf("after the last one: %v, the session ended with %v", st.Code, gone.Code)
		}
	})
}

func TestReceiveFromMatchesByBitsAlone(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		c := w.open()
		toA := w.connect(c, a)
		for _, n := range sizes {
			in := make([]byte, n)
			first, err := a.IrecvvFrom(cut(in, 3), toB, 7, exact, nil)
			if err != nil {
				w.Fatal(err)
			}
			send := w.isend(c, pattern(n, 1), toA, 7)
			if st := w.succeed(a, first); st.Source == toB || !bytes.Equal(in, pattern(n, 1)) {
				w.Errorf("%d bytes: %+v", n, st)
			}
			w.succeed(c, send)
		}
		own := w.irecvFrom(a, nil, a.Addr(), 8, exact)
		w.pending(a, own)
		w.isend(b, nil, w.connect(b, a), 8)
		w.succeed(a, own)
	})
}

func TestReceiveFromIsRefused(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		_, err := a.IrecvFrom(nil, toA, 1, exact, nil)
		refused(w, err, mx.ErrBadEndpoint, "irecv from")
		_, err = a.IrecvFrom(nil, mx.EndpointAddr{}, 1, exact, nil)
		refused(w, err, mx.ErrBadAddrList, "irecv from")
		_, err = a.IrecvvFrom(nil, toA, 1, exact, nil)
		refused(w, err, mx.ErrBadEndpoint, "irecv from")
		_, err = a.IrecvFrom(nil, toB, 1, 0, nil)
		refused(w, err, mx.ErrBadMatchMask, "irecv from", toB.String())
		r := w.irecvFrom(a, nil, toB, 1, exact)
		if ok, err := a.Cancel(r); !ok || err != nil {
			w.Error(ok, err)
		}
		if err := b.Close(); err != nil {
			w.Error(err)
		}
		_, err = b.IrecvFrom(nil, toA, 1, exact, nil)
		refused(w, err, mx.ErrBadEndpoint, "irecv from")
	})
}

func TestReceiveFromTimesOut(t *testing.T) {
	over(t, func(w *world) {
		a, _, toB, _ := w.pair()
		r, other := w.irecvFrom(a, nil, toB, 1, exact), w.irecvFrom(a, nil, toB, 2, exact)
		if err := a.SetRequestTimeout(r, 1); err != nil {
			w.Fatal(err)
		}
		if st := w.done(a, r); st.Code != mx.StatusTimeout {
			w.Errorf("%+v", st)
		}
		if st := w.done(a, other); st.Code == mx.StatusSuccess {
			w.Errorf("the peer is disconnected, and its receive: %+v", st)
		}
	})
}
