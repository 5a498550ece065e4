package mx_test

import (
	"errors"
	"testing"

	"gomx/mx"
)

func (w *world) isendLevel(ep *mx.Endpoint, level mx.SendLevel, buf []byte, to mx.EndpointAddr, match uint64) mx.Request {
	w.Helper()
	r, err := ep.IsendLevel(level, [][]byte{buf}, to, match, nil)
	if err != nil {
		w.Fatal(err)
	}
	return r
}

// TestAcknowledgedSendCompletesOnArrival sends what nobody receives: it must complete, and be there when it has.
func TestAcknowledgedSendCompletesOnArrival(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		want := pattern(100, 3)
		for i := range uint64(50) {
			w.succeed(a, w.isendLevel(a, mx.SendAcked, want, toB, i))
			if _, found, err := b.Iprobe(i, exact); !found || err != nil {
				w.Fatalf("message %d was acknowledged, and is not there: %v", i, err)
			}
		}
		for i := range uint64(50) {
			got := make([]byte, 100)
			w.succeed(b, w.irecv(b, got, i, exact))
			w.same(got, want)
		}
		short := w.irecv(b, make([]byte, 10), 1, exact)
		st := w.succeed(a, w.isendLevel(a, mx.SendAcked, want, toB, 1))
		if st.XferLength != 100 {
			w.Errorf("of a receive that is too short: %+v", st)
		}
		if st := w.done(b, short); st.Code != mx.StatusTruncated || st.Source != toA {
			w.Errorf("%+v", st)
		}
	})
}

// TestAcknowledgedSendWaitsForThePeer holds the peer's library, which acknowledges nothing then.
func TestAcknowledgedSendWaitsForThePeer(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		if err := b.DisableProgression(); err != nil {
			w.Fatal(err)
		}
		r := w.isendLevel(a, mx.SendAcked, pattern(8, 1), toB, 1)
		if free, err := a.Ibuffered(r); !free || err != nil {
			w.Errorf("buffered %v, %v", free, err)
		}
		w.pending(a, r)
		list := a.Pending()
		if len(list) != 1 || list[0].Kind != "asend" || list[0].Stage != "waits for the peer to acknowledge it" {
			w.Errorf("%v", list)
		}
		if err := b.ReenableProgression(); err != nil {
			w.Fatal(err)
		}
		w.succeed(a, r)
		w.succeed(b, w.irecv(b, make([]byte, 8), 1, exact))

		if err := b.DisableProgression(); err != nil {
			w.Fatal(err)
		}
		r = w.isendLevel(a, mx.SendAcked, pattern(8, 1), toB, 1)
		w.pending(a, r)
		if err := a.Disconnect(toB); err != nil {
			w.Fatal(err)
		}
		if st := w.done(a, r); st.Code != mx.StatusEndpointUnreachable {
			w.Errorf("the session has ended: %+v", st)
		}
	})
}

func TestLargeAcknowledgedSendWaitsForItsMatch(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		want, got := pattern(1<<20, 5), make([]byte, 1<<20)
		r := w.isendLevel(a, mx.SendAcked, want, toB, 1)
		w.arrived(b, 1, exact)
		w.pending(a, r)
		w.succeed(b, w.irecv(b, got, 1, exact))
		w.succeed(a, r)
		w.same(got, want)
	})
}

func TestSendLevelOfAnEndpoint(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(mx.WithSendLevel(mx.SendMatched)), w.open()
		toB := w.connect(a, b)
		matched, listed := w.isend(a, nil, toB, 1), must(a.Isendv(nil, toB, 2, nil))
		w.arrived(b, 1, exact)
		w.arrived(b, 2, exact)
		w.pending(a, matched)
		w.pending(a, listed)
		w.succeed(a, w.isendLevel(a, mx.SendBuffered, nil, toB, 3))
		w.succeed(a, must(a.IsendAcked(nil, toB, 4, nil)))
		if !a.SendNow(nil, toB, 5) {
			w.Error("a send without a request can't leave")
		}
		last := w.isendLevel(a, mx.SendMatched, nil, toB, 6)
		w.pending(a, last)
		for i := range uint64(6) {
			w.succeed(b, w.irecv(b, nil, i+1, exact))
		}
		w.succeed(a, matched)
		w.succeed(a, listed)
		w.succeed(a, last)
	})
}

func TestSendLevelThatIsNone(t *testing.T) {
	over(t, func(w *world) {
		a, _, toB, _ := w.pair()
		if _, err := a.IsendLevel(3, nil, toB, 1, nil); !errors.Is(err, mx.ErrBadParamVal) {
			w.Errorf("level 3: %v", err)
		}
		if _, err := w.tryOpen(mx.AnyEndpoint, mx.WithSendLevel(7)); !errors.Is(err, mx.ErrBadParamVal) {
			w.Errorf("an endpoint of level 7: %v", err)
		}
		if _, err := a.IsendAcked(nil, mx.EndpointAddr{}, 1, nil); !errors.Is(err, mx.ErrBadAddrList) {
			w.Errorf("to nobody: %v", err)
		}
	})
}
