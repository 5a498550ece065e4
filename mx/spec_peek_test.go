package mx_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"gomx/mx"
)

func TestVI31IpeekShowsTheOldestUntilItIsCollected(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		if r, ok, err := b.Ipeek(); ok || err != nil || !r.IsZero() {
			w.Fatal(r, ok, err)
		}
		var recvs []mx.Request
		for i := range uint64(5) {
			recvs = append(recvs, w.irecv(b, nil, i, exact))
		}
		for _, i := range []uint64{3, 0, 4, 2, 1} { // complete in this order
			w.isend(a, nil, toB, i)
		}
		last := w.irecv(b, nil, 9, exact)
		w.isend(a, nil, toB, 9)
		w.succeed(b, last) // so all are complete
		for _, i := range []uint64{3, 0, 4, 2, 1} {
			for range 3 {
				r, ok, err := b.Ipeek()
				if err != nil || !ok || r != recvs[i] {
					w.Fatalf("peeked %v, want receive %d; %v, %v", r, i, ok, err)
				}
			}
			w.succeed(b, recvs[i])
		}
		if _, ok, err := b.Ipeek(); ok || err != nil {
			w.Error(ok, err)
		}
	})
}

func TestVI32PeekTimesOut(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		w.irecv(a, nil, 1, exact)
		for _, timeout := range []time.Duration{0, time.Millisecond} {
			if r, ok, err := a.Peek(timeout); ok || err != nil || !r.IsZero() {
				w.Error(r, ok, err)
			}
		}
	})
}

func TestVI32EachBlockedPeekerGetsAnotherRequest(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		const n = 8
		for i := range uint64(n) {
			w.irecv(b, nil, i, exact)
		}
		got := make(chan mx.Request, n)
		for range n {
			go func() {
				r, _, _ := b.Peek(bound)
				got <- r
			}()
		}
		waitBlocked(w, n)
		for i := range uint64(n) {
			w.isend(a, nil, toB, i)
		}
		for range n {
			w.succeed(b, receive(w, "Peek", got)) // fails if it is shown twice
		}
	})
}

func TestVI51TestAnyFiltersByMatchInformation(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for i := range uint64(4) {
			if _, err := b.Irecv(make([]byte, 1), i<<8, 0xff00, i); err != nil {
				w.Fatal(err)
			}
		}
		for i := range uint64(4) {
			w.isend(a, []byte{byte(i)}, toB, i<<8|0x77)
		}
		w.irecv(b, nil, 0xffff, exact)
		w.isend(a, nil, toB, 0xffff)
		w.until("all have come", func() bool { return counter(w, b, "messages received") == 5 }, b)
		if _, ok, err := b.TestAny(0x66, 0xff); ok || err != nil {
			w.Error(ok, err)
		}
		st, ok, err := b.TestAny(0x200, 0xff00)
		if err != nil || !ok || st.MatchInfo != 0x277 || st.Context != uint64(2) {
			w.Errorf("%+v, %v, %v", st, ok, err)
		}
		for _, want := range []uint64{0x077, 0x177, 0x377} { // oldest first
			if st, ok, err = b.TestAny(0x77, 0xff); err != nil || !ok || st.MatchInfo != want {
				w.Errorf("%+v, %v, %v, want %#x", st, ok, err, want)
			}
		}
	})
}

func TestVI51BadMaskIsRefused(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		_, _, err := a.TestAny(2, 1)
		refused(w, err, mx.ErrBadMatchMask, "test any", a.String())
		_, _, err = a.WaitAny(bound, 2, 1)
		refused(w, err, mx.ErrBadMatchMask, "wait any", a.String())
	})
}

func TestVI52WaitAnyTakesSendsReceivesAndConnects(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		nic, id := place(w, b)
		if _, err := a.Isend(nil, toB, 0x10, "send"); err != nil {
			w.Fatal(err)
		}
		if _, err := a.Iconnect(nic, id, testFilter, 0x11, "connect"); err != nil {
			w.Fatal(err)
		}
		if _, err := a.Irecv(nil, 0x12, exact, "receive"); err != nil {
			w.Fatal(err)
		}
		w.isend(a, nil, a.Addr(), 0x12)
		for match, want := range map[uint64]string{0x10: "send", 0x11: "connect"} {
			st, ok, err := a.WaitAny(bound, match, exact)
			if err != nil || !ok || st.Context != want || st.Code != mx.StatusSuccess {
				w.Errorf("%#x: %+v, %v, %v", match, st, ok, err)
			}
		}
		contexts := map[any]int{}
		for range 2 {
			st, ok, err := a.WaitAny(bound, 0x12, exact)
			if err != nil || !ok {
				w.Fatal(ok, err)
			}
			contexts[st.Context]++
		}
		if contexts["receive"] != 1 || contexts[nil] != 1 {
			w.Errorf("%v", contexts)
		}
	})
}

func TestVI52WaitAnyTimesOut(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		for _, timeout := range []time.Duration{0, time.Millisecond} {
			if _, ok, err := a.WaitAny(timeout, 0, everything); ok || err != nil {
				w.Error(ok, err)
			}
		}
	})
}

func TestVI52BlockedWaitAnysShareTheCompletions(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		const callers, each = 4, 50
		for i := range uint64(callers * each) {
			w.irecv(b, make([]byte, 8), i, exact)
		}
		got := make(chan error, callers)
		seen := make(chan uint64, callers*each)
		for range callers {
			go func() {
				for range each {
					st, ok, err := b.WaitAny(bound, 0, everything)
					if err != nil || !ok {
						got <- fmt.Errorf("%v, %w", ok, err)
						return
					}
					seen <- st.MatchInfo
				}
				got <- nil
			}()
		}
		for i := range uint64(callers * each) {
			w.isend(a, pattern(8, byte(i)), toB, i)
		}
		for range callers {
			if err := receive(w, "WaitAny", got); err != nil {
				w.Fatal(err)
			}
		}
		close(seen)
		all := map[uint64]bool{}
		for m := range seen {
			all[m] = true
		}
		if len(all) != callers*each {
			w.Errorf("%d different completions of %d", len(all), callers*each)
		}
	})
}

func TestCompletionsIterates(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		const n = 20
		for i := range uint64(n) {
			w.irecv(b, nil, i, exact)
			w.isend(a, nil, toB, i)
		}
		ctx, cancel := context.WithTimeout(context.Background(), bound)
		defer cancel()
		var got uint64
		for st := range b.Completions(ctx, 0, everything) {
			if st.MatchInfo != got {
				w.Errorf("completion %d is of message %d", got, st.MatchInfo)
			}
			if got++; got == n {
				break
			}
		}
		if got != n {
			w.Fatalf("%d of %d", got, n)
		}
		cancel()
		for st := range b.Completions(ctx, 0, everything) {
			w.Errorf("after the context's end: %+v", st)
		}
	})
}

func TestCompletionsEndWithWakeupAndClose(t *testing.T) {
	over(t, func(w *world) {
		ep := w.open()
		iterate := func() (bool, error) {
			for range ep.Completions(context.Background(), 0, everything) {
				return true, nil
			}
			return false, nil
		}
		if o := wakeUntil(w, ep, start(iterate)); o.ok {
			w.Error("Wakeup gave a completion")
		}
		c := start(iterate)
		shut(w, ep)
		if o := receive(w, "Completions", c); o.ok {
			w.Error("Close gave a completion")
		}
	})
}
