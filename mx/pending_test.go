package mx_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gomx/mx"
)

func TestPendingSaysWhatIsWaitedFor(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		if list := a.Pending(); len(list) != 0 {
			w.Fatalf("nothing is pending: %v", list)
		}
		posted := w.irecv(a, make([]byte, 30), 0x100, 0xf00)
		tied := w.irecvFrom(a, make([]byte, 20), toB, 2, exact)
		large := w.sendUnexpected(a, b, pattern(200_000, 0), toB, 3)
		small := w.issend(a, pattern(10, 0), toB, 4)
		watch, err := a.Watch(toB, 5, nil)
		if err != nil {
			w.Fatal(err)
		}
		w.arrived(b, 4, exact)
		want := []mx.PendingRequest{
			{Request: posted, Kind: "recv", MatchInfo: 0x100, MatchMask: 0xf00, Bytes: 30, Stage: "waits for its match"},
			{Request: tied, Kind: "recv", Peer: toB, MatchInfo: 2, MatchMask: exact, Bytes: 20, Stage: "waits for its match"},
			{Request: large, Kind: "send", Peer: toB, MatchInfo: 3, MatchMask: exact, Bytes: 200_000, Stage: "waits for the peer to match and fetch it"},
			{Request: small, Kind: "ssend", Peer: toB, MatchInfo: 4, MatchMask: exact, Bytes: 10, Stage: "waits for the peer to match it"},
			{Request: watch, Kind: "watch", Peer: toB, MatchInfo: 5, MatchMask: exact, Stage: "waits for the end of the session"},
		}
		got := a.Pending()
		for _, p := range want {
			if !slices.Contains(got, p) {
				w.Errorf("%v is missing", p)
			}
		}
		if len(got) != len(want) {
			w.Errorf("%d requests are pending, want %d: %v", len(got), len(want), got)
		}
		if text := want[1].String(); !strings.Contains(text, "recv from "+toB.String()+" match 0x2") {
			w.Error(text)
		}
		for match, n := range map[uint64]int{3: 200_000, 4: 10} {
			w.succeed(b, w.irecv(b, make([]byte, n), match, exact))
		}
		w.isend(b, nil, toA, 0x100)
		w.isend(b, nil, toA, 2)
		for _, r := range []mx.Request{posted, tied, large, small} {
			w.succeed(a, r)
		}
		if err := a.Forget(watch); err != nil {
			w.Fatal(err)
		}
		if got := a.Pending(); len(got) != 1 || !got[0].Request.IsZero() || got[0].Kind != "watch" {
			w.Errorf("%v", got)
		}
	})
}

func TestPendingHasNoHandleOfTheLibrarysOwn(t *testing.T) {
	w := newWorld(t, "mem")
	ep := w.open()
	if err := ep.Admit(func(*mx.ConnectionRequest) (bool, []byte) { return true, nil }); err != nil {
		t.Fatal(err)
	}
	counter, err := ep.NewCompletionCounter()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, _, err := counter.Wait(noContext, 1, bound)
		ended <- err
	}()
	for end := time.Now().Add(bound); len(ep.Pending()) < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(ep.Pending())
		}
	}
	for _, p := range ep.Pending() {
		if !p.Request.IsZero() {
			t.Errorf("%v could be cancelled by who has not made it", p)
		}
		if ok, err := ep.Cancel(p.Request); ok || err == nil {
			t.Errorf("%v was cancelled: %v", p, err)
		}
	}
	w.connect(w.open(), ep)
	ep.Wakeup()
	if err := <-ended; err != nil {
		t.Errorf("the wait for the counter: %v", err)
	}
}

func TestTextsNameThePeer(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		q, err := mx.NewQueue(a)
		if err != nil {
			w.Fatal(err)
		}
		if _, err := a.IrecvMulti(q, make([]byte, 8), 0, 1, exact, nil); err != nil {
			w.Fatal(err)
		}
		if text := fmt.Sprint(a.Pending()); !strings.Contains(text, "multi-receive from anyone match 0x1") {
			w.Error(text)
		}
		_, err = b.IrecvDirected(nil, toB, false, 1, exact, nil)
		if err == nil || !strings.Contains(err.Error(), "irecv directed from "+toB.String()) {
			w.Error(err)
		}
		c, err := b.NewCompletionCounter()
		if err != nil {
			w.Fatal(err)
		}
		_, err = c.At(1).Iatomic(mx.AtomicSum, mx.AtomicInt64, nil, b.Addr(), mx.WindowHandle{}, 1, 0, nil)
		if err == nil || !strings.Contains(err.Error(), "triggered iatomic on "+b.String()) {
			w.Error(err)
		}
	})
}

func TestPendingNamesThePeerOfAConnect(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), w.open()
		if err := b.DisableProgression(); err != nil { // it does not answer
			w.Fatal(err)
		}
		nic, id := place(w, b)
		r, err := a.Iconnect(nic, id, testFilter, 7, nil)
		if err != nil {
			w.Fatal(err)
		}
		list := a.Pending()
		if len(list) != 1 || list[0].Request != r || list[0].Kind != "connect" || list[0].Stage != "connecting" ||
			list[0].Peer.String() != b.Addr().String() {
			w.Errorf("%v", list)
		}
		if err := a.Close(); err != nil {
			w.Fatal(err)
		}
		if list := a.Pending(); len(list) != 0 {
			w.Errorf("of a closed endpoint: %v", list)
		}
	})
}
