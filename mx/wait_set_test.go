package mx_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"gomx/mx"
)

// A request that went is an error of a call for all, also behind one that is pending, and however it went.
func TestAllFindsStaleRequests(t *testing.T) {
	over(t, func(w *world) {
		_, b, _, _ := w.pair()
		pending, gone := w.irecv(b, nil, 1, exact), w.irecv(b, nil, 2, exact)
		if _, err := b.Cancel(gone); err != nil {
			w.Fatal(err)
		}
		stale := []mx.Request{pending, gone}
		if done, err := b.TestAll(stale, nil); done || !errors.Is(err, mx.ErrBadRequest) {
			w.Errorf("TestAll: %v, %v", done, err)
		}
		for _, timeout := range []time.Duration{0, mx.Infinite} {
			if done, err := b.WaitAll(noContext, stale, nil, timeout); done || !errors.Is(err, mx.ErrBadRequest) {
				w.Errorf("WaitAll for %v: %v, %v", timeout, done, err)
			}
		}
		for name, goes := range map[string]func(mx.Request) error{
			"cancelled": func(r mx.Request) error { _, err := b.Cancel(r); return err }, "forgotten": b.Forget,
		} {
			under := []mx.Request{pending, w.irecv(b, nil, 3, exact)}
			ended := make(chan error, 1)
			go func() { _, err := b.WaitAll(noContext, under[:], nil, mx.Infinite); ended <- err }()
			time.Sleep(20 * time.Millisecond)
			if err := goes(under[1]); err != nil {
				w.Fatal(err)
			}
			select {
			case err := <-ended:
				refused(w, err, mx.ErrBadRequest, "")
			case <-time.After(bound):
				w.Fatalf("a request is %s, and the wait goes on", name)
			}
		}
	})
}

// The same, while another goroutine waits and polls for all.
func TestWaitAllFindsStaleRequestsBesideAnother(t *testing.T) {
	over(t, func(w *world) {
		_, b, _, _ := w.pair()
		probed := make(chan error, 1)
		go func() { _, _, err := b.Probe(mx.Infinite, 99, exact); probed <- err }()
		waitBlocked(w, 1)
		pending, gone := w.irecv(b, nil, 1, exact), w.irecv(b, nil, 2, exact)
		if _, err := b.Cancel(gone); err != nil {
			w.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := b.WaitAll(noContext, []mx.Request{pending, gone}, nil, mx.Infinite)
			ended <- err
		}()
		refused(w, receive(w, "the end of WaitAll", ended), mx.ErrBadRequest, "")
		b.Wakeup()
		if err := receive(w, "the end of Probe", probed); err != nil {
			w.Error(err)
		}
	})
}

// Too few statuses are an error before anything is waited for, and the endpoint goes on.
func TestAllNeedsRoomForStatuses(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		reqs := []mx.Request{w.irecv(b, nil, 1, exact), w.irecv(b, nil, 2, exact)}
		for range 2 {
			for have := range 2 {
				done, err := b.WaitAll(context.Background(), reqs, make([]mx.Status, have), mx.Infinite)
				if refused(w, err, mx.ErrBadInfoLength, "2 requests"); done {
					w.Error("done")
				}
				_, err = b.TestAll(reqs, make([]mx.Status, have))
				refused(w, err, mx.ErrBadInfoLength, "2 requests")
			}
			for match := uint64(1); match < 3; match++ {
				w.isend(a, nil, toB, match)
			}
		}
		if done, err := b.WaitAll(noContext, reqs, make([]mx.Status, 3), bound); !done || err != nil {
			w.Error(done, err)
		}
	})
}

// A queue takes all requests of a call, or none.
func TestQueueTakesAllOrNone(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		q, err := mx.NewQueue(b)
		if err != nil {
			w.Fatal(err)
		}
		good, gone := w.irecv(b, nil, 1, exact), w.irecv(b, nil, 2, exact)
		if _, err := b.Cancel(gone); err != nil {
			w.Fatal(err)
		}
		refused(w, q.Add(good, gone), mx.ErrBadRequest, "")
		refused(w, q.Add(good, mx.Request{}), mx.ErrBadRequest, "")
		w.isend(a, nil, toB, 1)
		if _, done, err := b.WaitAny(bound, 1, mx.MatchMaskNone); !done || err != nil {
			w.Errorf("the request has left its endpoint: %v, %v", done, err)
		}
		_, err = mx.NewQueue(b, nil)
		refused(w, err, mx.ErrBadEndpoint, "")
	})
}

// A request that stands in the list twice, and is complete only during the wait, is not blamed on another goroutine alone.
func TestTwiceInTheList(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		r := w.irecv(b, make([]byte, 8), 7, mx.MatchMaskNone)
		var sender sync.WaitGroup
		defer sender.Wait()
		sender.Go(func() {
			time.Sleep(20 * time.Millisecond)
			w.succeed(a, w.isend(a, make([]byte, 8), toB, 7))
		})
		_, err := b.WaitAll(context.Background(), []mx.Request{r, r}, make([]mx.Status, 2), mx.Infinite)
		if !errors.Is(err, mx.ErrBadRequest) || !strings.Contains(err.Error(), "stands in the call twice") {
			w.Errorf("%v", err)
		}
	})
}
