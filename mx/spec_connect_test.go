package mx_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gomx/mx"
)

func TestIV31ConnectGivesAUsableAddress(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		for _, end := range []struct {
			addr mx.EndpointAddr
			of   *mx.Endpoint
		}{{toB, b}, {toA, a}, {a.Addr(), a}} {
			nic, id, err := mx.DecomposeEndpointAddr(end.addr)
			wantNIC, wantID := place(w, end.of)
			if err != nil || nic != wantNIC || id != wantID {
				w.Errorf("%v is %#x/%d, %v", end.addr, nic, id, err)
			}
			if end.addr.String() != end.of.String() {
				w.Errorf("%v for %v", end.addr, end.of)
			}
		}
		if again := w.connect(a, b); again != toB {
			w.Error("connecting again gives another address of the same session")
		}
	})
}

func TestIV31WrongFilterIsRefusedAndSaysWho(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), w.open()
		nic, id := place(w, b)
		addr, err := a.Connect(nic, id, testFilter+1, bound)
		refused(w, err, mx.ErrBadConnectionKey, "connect", a.String(), b.String())
		if !addr.IsZero() {
			w.Error("an address came with the error")
		}
		if n := counter(w, b, "connects with a wrong filter"); n != 1 {
			w.Errorf("%d counted", n)
		}
	})
}

// TestConnectInAHandlerSaysSo: nothing progresses in a handler, so that a connect there can't end.
func TestConnectInAHandlerSaysSo(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		nic, id := place(w, a)
		inside := make(chan error, 2)
		if err := b.RegisterUnexpHandler(func(any, mx.EndpointAddr, uint64, uint32, []byte) mx.UnexpAction {
			_, err := b.Connect(nic, id+1, testFilter, 10*time.Millisecond)
			inside <- err
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
			defer cancel()
			_, err = b.ConnectContext(ctx, nic, id+1, testFilter)
			inside <- err
			return mx.RecvFinished
		}, nil); err != nil {
			w.Fatal(err)
		}
		w.isend(a, pattern(8, 0), toB, 1)
		w.until("the handler", func() bool { return len(inside) == 2 }, b)
		refused(w, <-inside, mx.ErrTimeout, "in a handler nothing progresses")
		if err := <-inside; !errors.Is(err, context.DeadlineExceeded) {
			w.Error(err)
		} else {
			refused(w, err, mx.ErrTimeout, "in a handler nothing progresses")
		}
	})
}

// TestConnectWithoutProgressionSaysSo: the reason is the endpoint's own, and no peer's.
func TestConnectWithoutProgressionSaysSo(t *testing.T) {
	over(t, func(w *world) {
		a, b, _, _ := w.pair()
		nic, id := place(w, b)
		if err := a.DisableProgression(); err != nil {
			w.Fatal(err)
		}
		const reason = "the progression of the endpoint is off: ReenableProgression first"
		_, err := a.Connect(nic, id+1, testFilter, 10*time.Millisecond)
		refused(w, err, mx.ErrTimeout, reason)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		_, err = a.ConnectContext(ctx, nic, id+1, testFilter)
		refused(w, err, mx.ErrTimeout, reason)
		_, err = a.ConnectAll(ctx, []mx.PeerName{{NIC: nic, Endpoint: id + 1, Filter: testFilter}})
		if err == nil || !strings.Contains(err.Error(), reason) {
			w.Error(err)
		}
	})
}

func TestIV31WrongFilterLeavesAGoodSessionUntouched(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		nic, id := place(w, b)
		recv := w.irecv(b, make([]byte, 200_000), 1, exact)
		for range 3 {
			_, err := a.Connect(nic, id, 1, bound)
			refused(w, err, mx.ErrBadConnectionKey)
		}
		w.isend(a, pattern(200_000, 1), toB, 1)
		w.succeed(b, recv)
	})
}

func TestIV31FilterIsCheckedTowardsOneself(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		nic, id := place(w, a)
		_, err := a.Connect(nic, id, testFilter+1, bound)
		refused(w, err, mx.ErrBadConnectionKey, a.String())
		addr, err := a.Connect(nic, id, testFilter, bound)
		if err != nil || addr != a.Addr() {
			w.Errorf("%v, %v", addr, err)
		}
	})
}

func TestIV31SeveralConnectsToTheSameInvalidPeerAllFail(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		b, err := w.tryOpen(uncommon())
		if err != nil {
			w.Fatal(err)
		}
		nic, id := place(w, b)
		shut(w, b)
		for range 5 {
			_, err := a.Connect(nic, id, testFilter, bound)
			refused(w, err, mx.ErrConnectionFailed, "connect", a.String(), fmt.Sprint(id))
			if !errors.Is(err, mx.StatusEndpointClosed) {
				w.Errorf("%v does not wrap the status that Iconnect ends with", err)
			}
		}
		var all []mx.Request
		for i := range 10 {
			r, err := a.Iconnect(nic, id, testFilter, uint64(i), nil)
			if err != nil {
				w.Fatal(err)
			}
			all = append(all, r)
		}
		for _, r := range all {
			if st := w.done(a, r); st.Code != mx.StatusEndpointClosed {
				w.Errorf("status %v", st.Code)
			}
		}
	})
}

func TestIV31UnknownNICAndID(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		nic, _ := place(w, a)
		_, err := a.Connect(0x123456789abc, 1, testFilter, bound)
		refused(w, err, mx.ErrNICNotFound, "connect", a.String(), "/1")
		for _, id := range []uint32{mx.MaxEndpoints, mx.AnyEndpoint} {
			_, err = a.Connect(nic, id, testFilter, bound)
			refused(w, err, mx.ErrBadEndpointID, "connect", a.String(), fmt.Sprint(id))
			_, err = a.Iconnect(nic, id, testFilter, 0, nil)
			refused(w, err, mx.ErrBadEndpointID)
		}
		_, err = a.Iconnect(1, 1, testFilter, 0, nil)
		refused(w, err, mx.ErrNICNotFound)
		if n := counter(w, a, "requests in use"); n != 0 {
			w.Errorf("%d requests are left over", n)
		}
	})
}

// silent opens an endpoint that answers nobody.
func silent(w *world) *mx.Endpoint {
	ep := w.open()
	if err := ep.DisableProgression(); err != nil {
		w.Fatal(err)
	}
	return ep
}

func TestIV31ConnectTimesOut(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), silent(w)
		nic, id := place(w, b)
		for _, timeout := range []time.Duration{0, time.Nanosecond, 20 * time.Millisecond} {
			_, err := a.Connect(nic, id, testFilter, timeout)
			refused(w, err, mx.ErrTimeout, "connect", a.String(), b.String())
		}
		if err := b.ReenableProgression(); err != nil {
			w.Fatal(err)
		}
		w.connect(a, b)
	})
}

func TestIV31ConnectIsWokenUp(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), silent(w)
		nic, id := place(w, b)
		c := start(func() (bool, error) { _, err := a.Connect(nic, id, testFilter, mx.Infinite); return false, err })
		refused(w, wakeUntil(w, a, c).err, mx.ErrTimeout, "connect", b.String())
	})
}

func TestIV31ConnectEndsWithItsEndpoint(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), silent(w)
		nic, id := place(w, b)
		c := start(func() (bool, error) { _, err := a.Connect(nic, id, testFilter, mx.Infinite); return false, err })
		waitBlocked(w, 1)
		shut(w, a)
		err := receive(w, "Connect", c).err
		refused(w, err, mx.ErrBadEndpoint, "connect", b.String())
		if errors.Is(err, mx.ErrTimeout) {
			w.Errorf("%v counts as a timeout", err)
		}
	})
}

func TestIV31ConnectContextEndsWithTheContext(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), silent(w)
		nic, id := place(w, b)
		ctx, cancel := context.WithCancel(context.Background())
		c := start(func() (bool, error) { _, err := a.ConnectContext(ctx, nic, id, testFilter); return false, err })
		cancel()
		err := receive(w, "ConnectContext", c).err
		refused(w, err, mx.ErrTimeout, b.String())
		if !errors.Is(err, context.Canceled) {
			w.Errorf("%v does not wrap the context's error", err)
		}
	})
}

func TestIV31AddressWorksOnlyWithItsEndpoint(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		_, err := b.Isend(nil, toB, 1, nil)
		refused(w, err, mx.ErrBadEndpoint, "isend", b.String(), toB.String(), a.String())
	})
}

func TestIV32IconnectCompletesWithTheAddress(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), w.open()
		nic, id := place(w, b)
		r, err := a.Iconnect(nic, id, testFilter, 77, "mine")
		if err != nil {
			w.Fatal(err)
		}
		st, ok, err := a.WaitAny(bound, 77, exact)
		if err != nil || !ok || st.Code != mx.StatusSuccess || st.Context != "mine" || st.MatchInfo != 77 {
			w.Fatalf("%+v, %v, %v", st, ok, err)
		}
		_, _, err = a.Test(r)
		refused(w, err, mx.ErrBadRequest)
		recv := w.irecv(b, make([]byte, 3), 1, exact)
		w.succeed(a, w.isend(a, pattern(3, 0), st.Source, 1))
		w.succeed(b, recv)
	})
}

func TestIV32IconnectReportsFailureInTheStatus(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), w.open()
		nic, id := place(w, b)
		r, err := a.Iconnect(nic, id, 1, 0, nil)
		if err != nil {
			w.Fatal(err)
		}
		if st := w.done(a, r); st.Code != mx.StatusBadKey || !errors.Is(st.Err(), mx.StatusBadKey) {
			w.Errorf("status %v", st.Code)
		}
	})
}

func TestIV32IconnectTimesOutAndIsCancelled(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), silent(w)
		nic, id := place(w, b)
		r, err := a.Iconnect(nic, id, testFilter, 0, nil)
		if err != nil {
			w.Fatal(err)
		}
		if ok, err := a.Cancel(r); !ok || err != nil {
			w.Fatalf("cancelled %v, %v", ok, err)
		}
		_, _, err = a.Test(r)
		refused(w, err, mx.ErrBadRequest, "test", a.String())
		r, err = a.Iconnect(nic, id, testFilter, 0, nil)
		if err != nil {
			w.Fatal(err)
		}
		if err := a.SetRequestTimeout(r, time.Millisecond); err != nil {
			w.Fatal(err)
		}
		if st := w.done(a, r); st.Code != mx.StatusTimeout {
			w.Errorf("status %v", st.Code)
		}
	})
}

func TestIV33DecomposeRefusesTheZeroAddress(t *testing.T) {
	initialize(t)
	_, _, err := mx.DecomposeEndpointAddr(mx.EndpointAddr{})
	refused(t, err, mx.ErrBadAddrList, "decompose")
	if s := (mx.EndpointAddr{}).String(); s == "" || !(mx.EndpointAddr{}).IsZero() {
		t.Errorf("%q", s)
	}
}

func TestIV33SourceOfAStatusDecomposes(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		w.sendUnexpected(a, b, nil, toB, 1)
		st := w.succeed(b, w.irecv(b, nil, 1, exact))
		if st.Source != toA {
			w.Errorf("source %v, want %v", st.Source, toA)
		}
		recv := w.irecv(a, nil, 2, exact)
		w.succeed(b, w.isend(b, nil, st.Source, 2)) // a reply without a connect
		w.succeed(a, recv)
	})
}

func TestIV41OwnAddressNeedsNoConnect(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		for _, n := range sizes {
			got, want := make([]byte, n), pattern(n, 3)
			recv := w.irecv(a, got, 1, exact)
			send := w.isend(a, want, a.Addr(), 1)
			if st := w.succeed(a, recv); st.Source != a.Addr() || string(got) != string(want) {
				w.Errorf("%d bytes: %+v", n, st)
			}
			w.succeed(a, send)
		}
	})
}

func TestIV5AddressContextBelongsToThePeer(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		get := func(addr mx.EndpointAddr, want any) {
			w.Helper()
			if v, err := mx.GetEndpointAddrContext(addr); err != nil || v != want {
				w.Errorf("context %v, want %v, %v", v, want, err)
			}
		}
		get(toB, nil)
		get(b.Addr(), nil)
		for _, v := range []any{"first", "second", nil, 3} {
			if err := mx.SetEndpointAddrContext(toA, v); err != nil {
				w.Fatal(err)
			}
			get(toA, v)
		}
		w.sendUnexpected(a, b, nil, toB, 1)
		get(w.arrived(b, 1, exact).Source, 3)
		get(w.succeed(b, w.irecv(b, nil, 1, exact)).Source, 3)
		get(toB, nil)
		if err := b.Disconnect(toA); err != nil {
			w.Fatal(err)
		}
		get(w.connect(b, a), 3) // the same peer
		_, err := mx.GetEndpointAddrContext(mx.EndpointAddr{})
		refused(w, err, mx.ErrBadAddrList)
		refused(w, mx.SetEndpointAddrContext(mx.EndpointAddr{}, 1), mx.ErrBadAddrList)
	})
}

// The request that a Connect waits for is nobody else's: calls that take any request neither collect nor show it.
func TestConnectHasItsRequestForItself(t *testing.T) {
	over(t, func(w *world) {
		ep, other := w.open(), w.open()
		taken := make(chan error, 1)
		go func() {
			st, done, err := ep.WaitAny(mx.Infinite, 0, 0)
			if done {
				err = fmt.Errorf("WaitAny has collected %+v", st)
			}
			taken <- err
		}()
		waitBlocked(w, 1)
		own, id := place(w, ep)
		nic, otherID := place(w, other)
		for range 100 {
			_, toItself := ep.Connect(own, id, testFilter, bound)
			_, toOther := ep.Connect(nic, otherID, testFilter, bound)
			if err := errors.Join(toItself, toOther); err != nil {
				w.Fatal(err)
			}
			if _, err := ep.Connect(own, id, testFilter+1, bound); !errors.Is(err, mx.ErrBadConnectionKey) {
				w.Fatal(err)
			}
			if r, shown, err := ep.Peek(0); shown || err != nil {
				w.Fatalf("Peek has shown %v, %v", r, err)
			}
		}
		ep.Wakeup()
		if err := receive(w, "the end of WaitAny", taken); err != nil {
			w.Error(err)
		}
	})
}
