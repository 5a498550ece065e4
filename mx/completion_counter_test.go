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

func (w *world) counter(ep *mx.Endpoint) *mx.CompletionCounter {
	w.Helper()
	c, err := ep.NewCompletionCounter()
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(c.Close)
	return c
}

// counts waits until a counter stands at a number of successes and failures.
func (w *world) counts(c *mx.CompletionCounter, successes, failures uint64) {
	w.Helper()
	s, f, err := c.Wait(noContext, successes+failures, bound)
	if s != successes || f != failures || err != nil {
		w.Fatalf("the counter stands at %d and %d (%v), want %d and %d", s, f, err, successes, failures)
	}
}

func (w *world) count(c *mx.CompletionCounter, reqs ...mx.Request) {
	w.Helper()
	if err := c.Add(reqs...); err != nil {
		w.Fatal(err)
	}
}

// patterns wants each buffer to have the pattern of its number.
func (w *world) patterns(bufs [][]byte) {
	w.Helper()
	for i := range bufs {
		w.same(bufs[i], pattern(len(bufs[i]), byte(i)))
	}
}

// nothingLeft wants endpoints to have no request, complete or not.
func (w *world) nothingLeft(eps ...*mx.Endpoint) {
	w.Helper()
	for _, ep := range eps {
		if _, found, err := ep.Ipeek(); found || err != nil {
			w.Errorf("a request is to be collected: %v", err)
		}
		if list := ep.Pending(); len(list) != 0 {
			w.Errorf("left: %v", list)
		}
	}
}

func TestCounterCountsWhatWasAdded(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		sent, came := w.counter(a), w.counter(b)
		const n = 40
		bufs := make([][]byte, n)
		for i := range uint64(n) {
			bufs[i] = make([]byte, 1+int(i)*1000)
			r := w.irecv(b, bufs[i], i, exact)
			w.count(came, r)
			if _, _, err := b.Test(r); !errors.Is(err, mx.ErrBadRequest) {
				w.Errorf("a request that is counted can be tested: %v", err)
			}
		}
		for i := range uint64(n) {
			w.count(sent, w.isend(a, pattern(len(bufs[i]), byte(i)), toB, i))
		}
		w.counts(came, n, 0)
		w.counts(sent, n, 0)
		w.patterns(bufs)
		w.nothingLeft(a, b)
	})
}

func TestCounterCountsFailures(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		c := w.counter(b)
		w.count(c, w.irecv(b, make([]byte, 3), 1, exact), w.irecvFrom(b, nil, toA, 2, exact))
		w.succeed(a, w.isend(a, make([]byte, 5), toB, 1))
		w.counts(c, 0, 1) // truncated
		if err := b.Disconnect(toA); err != nil {
			w.Fatal(err)
		}
		w.counts(c, 0, 2)
	})
}

func TestCounterTakesWhatIsComplete(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		c, r := w.counter(b), w.irecv(b, nil, 1, exact)
		w.isend(a, nil, toB, 1)
		if got, found, err := b.Peek(bound); got != r || !found || err != nil {
			w.Fatal(got, found, err)
		}
		w.count(c, r)
		if s, f, err := c.Value(); s != 1 || f != 0 || err != nil {
			w.Errorf("%d, %d, %v", s, f, err)
		}
		if err := c.Add(r); !errors.Is(err, mx.ErrBadRequest) {
			w.Errorf("counted twice: %v", err)
		}
		other := w.irecv(b, nil, 2, exact)
		if err := c.Add(other, r); !errors.Is(err, mx.ErrBadRequest) {
			w.Errorf("one of two is stale: %v", err)
		}
		w.pending(b, other)
		if err := c.Add(other, other); err != nil {
			w.Errorf("a request that is named twice: %v", err)
		}
		over, last := w.irecv(b, nil, 3, exact), w.irecv(b, nil, 4, exact)
		w.isend(a, nil, toB, 3)
		if got, found, err := b.Peek(bound); got != over || !found || err != nil {
			w.Fatal(got, found, err)
		}
		if err := c.Add(over, last, over); err != nil {
			w.Errorf("a complete request that is named twice: %v", err)
		}
		w.isend(a, nil, toB, 2)
		w.isend(a, nil, toB, 4)
		w.counts(c, 4, 0)
		if err := c.Add(w.irecv(a, nil, 3, exact)); !errors.Is(err, mx.ErrBadRequest) {
			w.Errorf("a request of another endpoint: %v", err)
		}
	})
}

func TestCounterCountsPuts(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		win, err := b.OpenWindow(make([]byte, 1<<20), mx.WindowRead|mx.WindowWrite)
		if err != nil {
			w.Fatal(err)
		}
		c := w.counter(b)
		if err := c.CountPuts(win); err != nil {
			w.Fatal(err)
		}
		h := win.Handle()
		small, large := pattern(10, 0), pattern(1<<19, 1)
		w.succeed(a, w.iput(a, small, toB, h, 0))
		w.succeed(a, w.iput(a, large, toB, h, 1<<19))
		w.counts(c, 2, 0)
		w.same(win.Bytes()[:10], small)
		w.same(win.Bytes()[1<<19:], large)
		w.succeed(a, w.iget(a, make([]byte, 10), toB, h, 0))
		w.fetch(a, mx.AtomicSum, make([]byte, 8), toB, h, 16)
		w.succeed(b, w.iput(b, small, b.Addr(), h, 0))
		w.counts(c, 4, 0)
		if err := c.CountPuts(nil); !errors.Is(err, mx.ErrBadRequest) {
			w.Errorf("no window: %v", err)
		}
		if err := w.counter(a).CountPuts(win); !errors.Is(err, mx.ErrBadRequest) {
			w.Errorf("a window of another endpoint: %v", err)
		}
		c.Close()
		w.succeed(a, w.iput(a, small, toB, h, 0)) // counted by nobody
		if err := win.Close(); err != nil {
			w.Fatal(err)
		}
		if err := w.counter(b).CountPuts(win); !errors.Is(err, mx.ErrBadSegMem) {
			w.Errorf("a closed window: %v", err)
		}
	})
}

// TestThresholdsCompleteAsOthers waits for two counters and a request of two endpoints by one queue.
func TestThresholdsCompleteAsOthers(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		ca, cb, q := w.counter(a), w.counter(b), w.queue(a, b)
		threshold := func(c *mx.CompletionCounter, n uint64) mx.Request {
			r, err := c.Threshold(n, n, nil)
			if err != nil {
				w.Fatal(err)
			}
			return r
		}
		at2, at3, of1 := threshold(cb, 2), threshold(cb, 3), threshold(ca, 1)
		w.add(q, at2, of1)
		w.pending(b, at3)
		list := b.Pending()
		if len(list) != 2 || !strings.Contains(list[0].String()+list[1].String(), " to come to 3: it is at 0") {
			w.Errorf("%v", list)
		}
		for range 3 {
			w.count(cb, w.irecv(b, nil, 7, exact))
		}
		w.isend(a, nil, toB, 7)
		w.counts(cb, 1, 0)
		w.pending(b, at3)
		w.isend(a, nil, toB, 7)
		if got := w.collect(q, 1); got[0].Request != at2 || got[0].Status.Code != mx.StatusSuccess || got[0].Status.MatchInfo != 2 {
			w.Errorf("%+v", got)
		}
		w.count(ca, w.irecv(a, nil, 8, exact))
		w.isend(b, nil, toA, 8)
		if got := w.collect(q, 1); got[0].Request != of1 {
			w.Errorf("%+v", got)
		}
		w.isend(a, nil, toB, 7)
		w.succeed(b, at3)
		w.succeed(b, threshold(cb, 3)) // is complete at once
		back := threshold(cb, 100)
		if taken, err := b.Cancel(back); !taken || err != nil {
			w.Errorf("cancel: %v, %v", taken, err)
		}
		if err := b.Forget(threshold(cb, 101)); err != nil {
			w.Error(err)
		}
		last := threshold(cb, 102)
		if err := b.SetRequestTimeout(last, 0); err != nil {
			w.Error(err)
		}
		if st := w.done(b, last); st.Code != mx.StatusTimeout {
			w.Errorf("after its timeout: %v", st.Code)
		}
		never := threshold(cb, 103)
		cb.Close()
		if st := w.done(b, never); st.Code != mx.StatusAborted {
			w.Errorf("after close: %v", st.Code)
		}
	})
}

func TestWaitForCounterEnds(t *testing.T) {
	over(t, func(w *world) {
		_, b, _, _ := w.pair()
		c := w.counter(b)
		w.count(c, w.irecv(b, nil, 1, exact))
		for _, timeout := range []time.Duration{0, time.Millisecond} {
			if s, f, err := c.Wait(noContext, 1, timeout); s+f != 0 || err != nil {
				w.Errorf("%d, %d, %v", s, f, err)
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Millisecond, cancel)
		if s, f, err := c.Wait(ctx, 1, mx.Infinite); s+f != 0 || !errors.Is(err, context.Canceled) {
			w.Errorf("cancelled: %d, %d, %v", s, f, err)
		}
		if list := b.Pending(); len(list) != 1 {
			w.Errorf("a wait that was given up left %v", list)
		}
		var all sync.WaitGroup
		all.Go(func() {
			if _, _, err := c.Wait(noContext, 2, mx.Infinite); !errors.Is(err, mx.ErrBadEndpoint) {
				w.Errorf("closed meanwhile: %v", err)
			}
		})
		w.until("somebody waits", func() bool { return len(b.Pending()) == 2 })
		c.Close()
		all.Wait()
		if _, _, err := c.Value(); !errors.Is(err, mx.ErrBadEndpoint) {
			w.Errorf("closed: %v", err)
		}
		if err := c.Add(); !errors.Is(err, mx.ErrBadEndpoint) {
			w.Errorf("closed: %v", err)
		}
	})
}

// TestThresholdsThatAreCounted has a counter count its own thresholds, so that one completes the other.
func TestThresholdsThatAreCounted(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		c, last := w.counter(b), mx.Request{}
		for _, n := range []uint64{4, 2, 3, 5, 1, 6} {
			r, err := c.Threshold(n, n, nil)
			if err != nil {
				w.Fatal(err)
			}
			if last = r; n < 6 {
				w.count(c, r)
			}
		}
		w.count(c, w.irecv(b, nil, 1, exact))
		w.isend(a, nil, toB, 1)
		w.succeed(b, last)
		w.counts(c, 6, 0)
		if list := b.Pending(); len(list) != 0 {
			w.Errorf("left: %v", list)
		}
		for range 3 {
			r := w.irecv(b, make([]byte, 8), 2, exact) // in slots that were given back once
			w.isend(a, make([]byte, 8), toB, 2)
			w.succeed(b, r)
		}
	})
}
