package mx_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"

	"gomx/mx"
)

func (w *world) claim(ep *mx.Endpoint, match, mask uint64) (mx.Message, mx.Status) {
	w.Helper()
	m, st, found, err := ep.Claim(noContext, bound, match, mask)
	if err != nil || !found {
		w.Fatalf("%v: no message to claim: %v", ep, err)
	}
	return m, st
}

func TestClaimedMessageIsOutOfSight(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		for _, n := range sizes {
			sends := []mx.Request{w.isend(a, pattern(n, 1), toB, 1), w.isend(a, pattern(n, 2), toB, 1)}
			first, st := w.claim(b, 1, exact)
			if st.Code != mx.StatusSuccess || st.Source != toA || st.MatchInfo != 1 || int(st.MsgLength) != n {
				w.Errorf("%d bytes: %+v", n, st)
			}
			in := [2][]byte{make([]byte, n), make([]byte, n)}
			w.succeed(b, w.irecv(b, in[1], 0, everything))
			if _, found, err := b.Iprobe(0, everything); found || err != nil {
				w.Errorf("%d bytes: a probe sees it: %v", n, err)
			}
			if _, _, found, err := b.Iclaim(0, everything); found || err != nil {
				w.Errorf("%d bytes: it is claimed twice: %v", n, err)
			}
			recv, err := b.IrecvvMessage(cut(in[0], 3), first, "context")
			if err != nil {
				w.Fatal(err)
			}
			if st := w.succeed(b, recv); st.Context != "context" || st.Source != toA || int(st.XferLength) != n {
				w.Errorf("%d bytes: %+v", n, st)
			}
			for i := range in {
				if !bytes.Equal(in[i], pattern(n, byte(i+1))) {
					w.Errorf("%d bytes: message %d arrived changed", n, i)
				}
				w.succeed(a, sends[i])
			}
		}
	})
}

func TestClaimRefuses(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		_, _, _, err := b.Iclaim(1, 0)
		refused(w, err, mx.ErrBadMatchMask, "claim")
		w.sendUnexpected(a, b, pattern(8, 0), toB, 1)
		m, _ := w.claim(b, 1, exact)
		for _, m := range []mx.Message{m, {}} {
			_, err = a.IrecvMessage(nil, m, nil)
			refused(w, err, mx.ErrBadRequest, "irecv message")
		}
		_, err = b.IrecvvMessage(make([][]byte, mx.MaxSegments+1), m, nil)
		refused(w, err, mx.ErrBadSegCount, "irecv message")
		r, err := b.IrecvMessage(make([]byte, 8), m, nil)
		if err != nil || m.IsZero() || !(mx.Message{}).IsZero() {
			w.Fatal(err)
		}
		w.succeed(b, r)
		_, err = b.IrecvMessage(nil, m, nil)
		refused(w, err, mx.ErrBadRequest, "irecv message")
		if err := b.Close(); err != nil {
			w.Fatal(err)
		}
		_, _, _, err = b.Claim(noContext, bound, 1, exact)
		refused(w, err, mx.ErrBadEndpoint, "claim")
	})
}

// Each of many goroutines claims and receives messages of its own.
func TestClaimersShareTheMessages(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		const claimers, each = 4, 50
		var all sync.WaitGroup
		got := make([][]byte, claimers)
		for g := range claimers {
			all.Go(func() {
				for range each {
					m, st, found, err := b.Claim(noContext, bound, 0, everything)
					if err != nil || !found {
						w.Error(found, err)
						return
					}
					in := make([]byte, st.MsgLength)
					r, err := b.IrecvMessage(in, m, nil)
					if err != nil {
						w.Error(err)
						return
					}
					if err := b.Finish(r, bound); err != nil || !bytes.Equal(in, pattern(len(in), byte(st.MatchInfo))) {
						w.Errorf("message %d: %v", st.MatchInfo, err)
					}
					got[g] = append(got[g], byte(st.MatchInfo))
				}
			})
		}
		for i := range claimers * each {
			w.succeed(a, w.isend(a, pattern(sizes[i%8], byte(i)), toB, uint64(i)))
		}
		all.Wait()
		seen := map[byte]bool{}
		for _, g := range got {
			for _, i := range g {
				if seen[i] {
					w.Errorf("message %d was claimed twice", i)
				}
				seen[i] = true
			}
		}
		if len(seen) != claimers*each {
			w.Errorf("%d messages were claimed, want %d", len(seen), claimers*each)
		}
	})
}

func TestClaimWaitsAndEnds(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() {
			_, _, _, err := b.Claim(ctx, mx.Infinite, 1, exact)
			ended <- err
		}()
		waitBlocked(w, 1)
		cancel()
		if err := receive(w, "the context ends it", ended); !errors.Is(err, context.Canceled) {
			w.Error(err)
		}
		type found struct {
			m     mx.Message
			found bool
			err   error
		}
		came := make(chan found, 1)
		go func() {
			m, _, ok, err := b.Claim(noContext, bound, 1, exact)
			came <- found{m, ok, err}
		}()
		waitBlocked(w, 1)
		w.isend(a, nil, toB, 2)
		w.isend(a, pattern(8, 1), toB, 1)
		f := receive(w, "a message ends it", came)
		if f.err != nil || !f.found {
			w.Fatalf("%+v", f)
		}
		if n := counter(w, b, "claimed messages"); n != 1 {
			w.Errorf("%d messages are claimed", n)
		}
		r, err := b.IrecvMessage(make([]byte, 8), f.m, nil)
		if err != nil {
			w.Fatal(err)
		}
		w.succeed(b, r)
	})
}

func TestClaimedMessageOfAPeerThatIsGone(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		w.sendUnexpected(a, b, pattern(100, 1), toB, 1)
		w.sendUnexpected(a, b, pattern(200_000, 1), toB, 2)
		small, _ := w.claim(b, 1, exact)
		large, _ := w.claim(b, 2, exact)
		watch, err := b.Watch(toA, 0, nil)
		if err != nil {
			w.Fatal(err)
		}
		if err := a.Close(); err != nil {
			w.Fatal(err)
		}
		gone := w.done(b, watch)
		in := make([]byte, 100)
		r, err := b.IrecvMessage(in, small, nil)
		if err != nil {
			w.Fatal(err)
		}
		if w.succeed(b, r); !bytes.Equal(in, pattern(100, 1)) {
			w.Error("it arrived changed")
		}
		if r, err = b.IrecvMessage(make([]byte, 200_000), large, nil); err != nil {
			w.Fatal(err)
		}
		if st := w.done(b, r); st.Code != gone.Code {
			w.Errorf("%+v, the session ended with %v", st, gone.Code)
		}
	})
}

// Senders of messages that are dropped go on; messages of other bits, and claimed ones, stay.
func TestDiscard(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		kept := w.isend(a, pattern(10, 1), toB, 0x20)
		claimed := w.isend(a, pattern(10, 2), toB, 0x10)
		m, _ := w.claim(b, 0x10, exact)
		var dropped []mx.Request
		for i, n := range sizes {
			dropped = append(dropped, w.isend(a, pattern(n, 3), toB, 0x10|uint64(i)&0xf))
		}
		dropped = append(dropped, w.issend(a, pattern(10, 4), toB, 0x1f))
		count := 0
		w.until("all have come", func() bool {
			n, err := b.Discard(0x10, 0xf0)
			if err != nil {
				w.Fatal(err)
			}
			count += n
			return count == len(dropped)
		}, b)
		for _, r := range dropped {
			w.done(a, r)
		}
		in := make([]byte, 10)
		r, err := b.IrecvMessage(in, m, nil)
		if err != nil {
			w.Fatal(err)
		}
		w.succeed(b, r)
		w.same(in, pattern(10, 2))
		w.succeed(b, w.irecv(b, in, 0x20, exact))
		w.same(in, pattern(10, 1))
		w.succeed(a, kept)
		w.succeed(a, claimed)
		if n, err := b.Discard(0, 0); n != 0 || err != nil {
			w.Errorf("%d messages are left: %v", n, err)
		}
		_, err = b.Discard(1, 0)
		refused(w, err, mx.ErrBadMatchMask, "discard")
	})
}
