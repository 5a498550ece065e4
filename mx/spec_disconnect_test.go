package mx_test

import (
	"strings"
	"testing"
	"time"

	"gomx/mx"
)

func TestXII11DisconnectEndsThePeersRequests(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		sync := w.issend(a, pattern(10, 0), toB, 1)
		large := w.isend(a, pattern(200_000, 0), toB, 2)
		posted := w.irecv(a, nil, 9, exact)
		w.arrived(b, 1, exact)
		w.arrived(b, 2, exact)
		w.isend(b, nil, toA, 3)
		w.arrived(a, 3, exact)
		if err := a.Disconnect(toB); err != nil {
			w.Fatal(err)
		}
		for _, r := range []mx.Request{sync, large} {
			if st := w.done(a, r); st.Code == mx.StatusSuccess {
				w.Errorf("%+v", st)
			}
		}
		if _, ok, err := a.Iprobe(3, exact); ok || err != nil {
			w.Error("the peer's unexpected message is still there", err)
		}
		w.pending(a, posted) // a receive that has not matched is nobody's
		w.succeed(a, w.isend(a, nil, a.Addr(), 9))
		w.succeed(a, posted)
	})
}

func TestXII11DeadAddressesAreSafeAndConnectRevives(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		if err := mx.SetEndpointAddrContext(toB, "kept"); err != nil {
			w.Fatal(err)
		}
		if err := a.Disconnect(toB); err != nil {
			w.Fatal(err)
		}
		if _, _, err := mx.DecomposeEndpointAddr(toB); err != nil {
			w.Error(err)
		}
		_ = toB.String()
		_, _ = mx.GetEndpointAddrContext(toB)
		if err := a.Disconnect(toB); err != nil {
			w.Errorf("again: %v", err)
		}
		if r, err := a.Isend(pattern(200_000, 0), toB, 1, nil); err == nil {
			if st := w.done(a, r); st.Code == mx.StatusSuccess {
				w.Error("a message went to a dead address")
			}
		}
		again := w.connect(a, b)
		for _, n := range []int{0, 100, 200_000} {
			recv := w.irecv(b, make([]byte, n), 1, exact)
			w.isend(a, pattern(n, 0), again, 1)
			w.succeed(b, recv)
		}
	})
}

// The status of a request says which side has ended the session, and its text what that may have done.
func TestXII11EachSideLearnsWhoHasDisconnected(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		tied := func(ep *mx.Endpoint, peer mx.EndpointAddr) []mx.Request {
			watch, err := ep.Watch(peer, 1, nil)
			if err != nil {
				w.Fatal(err)
			}
			return []mx.Request{watch, w.irecvFrom(ep, nil, peer, 2, exact), w.issend(ep, nil, peer, 3)}
		}
		ours, theirs := tied(a, toB), tied(b, toA)
		if err := a.Disconnect(toB); err != nil {
			w.Fatal(err)
		}
		for i := range ours {
			if st := w.done(a, ours[i]); st.Code != mx.StatusEndpointUnreachable {
				w.Errorf("request %d of the side that disconnects: %v", i, st.Code)
			}
			st := w.done(b, theirs[i])
			if st.Code != mx.StatusEndpointClosed || !strings.Contains(st.Code.String(), "closed or has disconnected") {
				w.Errorf("request %d of the other side: %v", i, st.Code)
			}
		}
	})
}

func TestXII11ForeignAndZeroAddresses(t *testing.T) {
	over(t, func(w *world) {
		_, b, toB, _ := w.pair()
		refused(w, b.Disconnect(mx.EndpointAddr{}), mx.ErrBadAddrList, "disconnect", b.String())
		refused(w, b.Disconnect(toB), mx.ErrBadEndpoint, "disconnect", b.String(), toB.String())
	})
}

func TestXII11DisconnectFromOneself(t *testing.T) { over(t, disconnectFromOneself) }

func TestXII11DisconnectFromOneselfOverALink(t *testing.T) {
	t.Setenv("MX_DISABLE_SELF", "1")
	over(t, disconnectFromOneself)
}

func disconnectFromOneself(w *world) {
	ep := w.open()
	kept := w.irecv(ep, make([]byte, 8), 1, exact)
	stuck := []mx.Request{w.issend(ep, nil, ep.Addr(), 2), w.sendUnexpected(ep, ep, pattern(200_000, 0), ep.Addr(), 3)}
	w.succeed(ep, w.sendUnexpected(ep, ep, nil, ep.Addr(), 4))
	if err := ep.Disconnect(ep.Addr()); err != nil {
		w.Fatal(err)
	}
	for i, r := range stuck {
		if st := w.done(ep, r); st.Code != mx.StatusEndpointUnreachable || st.XferLength != 0 {
			w.Errorf("send %d: %+v", i, st)
		}
	}
	if st, found, err := ep.Iprobe(0, everything); found || err != nil {
		w.Errorf("%+v is there still, %v", st, err)
	}
	// Our own address needs no connect, and goes on.
	send := w.isend(ep, pattern(8, 0), ep.Addr(), 1)
	w.succeed(ep, kept)
	w.succeed(ep, send)
	nic, id := place(w, ep)
	self, err := ep.Connect(nic, id, testFilter, bound)
	if err != nil || self != ep.Addr() {
		w.Fatal(self, err)
	}
}

// TestXII11DisconnectFromOneselfInTheHandler: the message that is being shown ends like the others.
func TestXII11DisconnectFromOneselfInTheHandler(t *testing.T) {
	for _, c := range []struct {
		disableSelf string
		action      mx.UnexpAction
	}{{"0", mx.RecvContinue}, {"0", mx.RecvFinished}, {"1", mx.RecvContinue}, {"1", mx.RecvFinished}} {
		t.Setenv("MX_DISABLE_SELF", c.disableSelf)
		over(t, func(w *world) {
			ep := w.open()
			err := ep.RegisterUnexpHandler(func(any, mx.EndpointAddr, uint64, uint32, []byte) mx.UnexpAction {
				if err := ep.Disconnect(ep.Addr()); err != nil {
					w.Error(err)
				}
				return c.action
			}, nil)
			if err != nil {
				w.Fatal(err)
			}
			for _, n := range []int{0, 200_000} {
				if st := w.done(ep, w.issend(ep, make([]byte, n), ep.Addr(), 1)); st.Code != mx.StatusEndpointUnreachable {
					w.Errorf("%d bytes: %+v", n, st)
				}
			}
			if st, found, err := ep.Iprobe(0, everything); found || err != nil {
				w.Errorf("%+v is there still, %v", st, err)
			}
		})
	}
}

func TestXII11ReopenedPeerIsAnotherSession(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), w.open()
		id := b.ID()
		old := w.connect(a, b)
		stuck := w.sendUnexpected(a, b, pattern(200_000, 0), old, 1)
		shut(w, b)
		if st := w.done(a, stuck); st.Code == mx.StatusSuccess {
			w.Errorf("%+v", st)
		}
		b, err := w.tryOpen(id)
		if err != nil {
			w.Fatal(err)
		}
		fresh := w.connect(a, b)
		if fresh == old || fresh.Session() == old.Session() {
			w.Error("the same address for another incarnation")
		}
		if r, err := a.Issend(nil, old, 7, nil); err == nil {
			if st := w.done(a, r); st.Code == mx.StatusSuccess {
				w.Error("a message to the old incarnation was taken")
			}
		}
		recv := w.irecv(b, nil, 8, exact)
		w.isend(a, nil, fresh, 8)
		w.succeed(b, recv)
	})
}

func TestXII12RequestTimeout(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		slow := w.sendUnexpected(a, b, pattern(200_000, 0), toB, 1)
		quick := w.issend(a, nil, toB, 2)
		if err := a.SetRequestTimeout(quick, 5*time.Millisecond); err != nil {
			w.Fatal(err)
		}
		if st := w.done(a, quick); st.Code != mx.StatusTimeout {
			w.Errorf("status %v", st.Code)
		}
		if st := w.done(a, slow); st.Code == mx.StatusSuccess { // its peer is disconnected
			w.Errorf("status %v", st.Code)
		}
	})
}

func TestXII12TimeoutOfZeroEndsTheRequestAtOnce(t *testing.T) {
	over(t, func(w *world) {
		a, _, toB, _ := w.pair()
		r := w.issend(a, nil, toB, 2)
		if err := a.SetRequestTimeout(r, 0); err != nil {
			w.Fatal(err)
		}
		if st, done, err := a.Test(r); !done || err != nil || st.Code != mx.StatusTimeout {
			w.Errorf("the first test: %v, %v, %v", st.Code, done, err)
		}
	})
}

func TestXII12InfiniteAndHugeTimeoutsDoNotOverflow(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for _, timeout := range []time.Duration{mx.Infinite, mx.Infinite - 1, 72 * time.Minute, 50 * 24 * time.Hour} {
			if err := a.SetRequestTimeout(mx.Request{}, timeout); err != nil {
				w.Fatal(err)
			}
			r := w.issend(a, nil, toB, 1)
			if err := a.SetRequestTimeout(r, timeout); err != nil {
				w.Fatal(err)
			}
			w.pending(a, r)
			w.succeed(b, w.irecv(b, nil, 1, exact))
			w.succeed(a, r)
		}
	})
}

func TestXII12UnmatchedReceivesDoNotTimeOut(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		r := w.irecv(a, nil, 1, exact)
		if err := a.SetRequestTimeout(r, time.Millisecond); err != nil {
			w.Fatal(err)
		}
		if _, ok, err := a.Wait(r, 20*time.Millisecond); ok || err != nil {
			w.Error(ok, err)
		}
	})
}

func TestXII12EndpointsTimeoutAppliesToASilentPeer(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(mx.WithRequestTimeout(10*time.Millisecond)), silent(w)
		nic, id := place(w, b)
		r, err := a.Iconnect(nic, id, testFilter, 0, nil)
		if err != nil {
			w.Fatal(err)
		}
		if st := w.done(a, r); st.Code != mx.StatusTimeout {
			w.Errorf("status %v", st.Code)
		}
	})
}
