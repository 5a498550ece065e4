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

func (w *world) queue(over ...*mx.Endpoint) *mx.Queue {
	w.Helper()
	q, err := mx.NewQueue(over...)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(q.Close)
	return q
}

func (w *world) add(q *mx.Queue, reqs ...mx.Request) {
	w.Helper()
	if err := q.Add(reqs...); err != nil {
		w.Fatal(err)
	}
}

// collect takes n completions.
func (w *world) collect(q *mx.Queue, n int) (all []mx.Completion) {
	w.Helper()
	batch := make([]mx.Completion, 3)
	for len(all) < n {
		got, err := q.Wait(noContext, batch, bound)
		if got == 0 || err != nil {
			w.Fatalf("%d of %d completions, then %v", len(all), n, err)
		}
		all = append(all, batch[:got]...)
	}
	return all
}

func TestQueueCollectsWhatWasAdded(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		q := w.queue(b)
		var posted []mx.Request
		for i := range uint64(8) {
			r := w.irecv(b, nil, i, exact)
			posted = append(posted, r)
			w.add(q, r)
		}
		other := w.irecv(b, nil, 100, exact)
		w.succeed(a, w.isend(a, nil, toB, 100))
		for i := range uint64(8) {
			w.succeed(a, w.isend(a, nil, toB, i))
		}
		for i, c := range w.collect(q, 8) {
			if c.Request != posted[i] || c.Status.MatchInfo != uint64(i) || c.Status.Code != mx.StatusSuccess {
				w.Errorf("completion %d is %+v", i, c)
			}
			if _, _, err := b.Test(c.Request); !errors.Is(err, mx.ErrBadRequest) {
				w.Errorf("a collected request can be tested: %v", err)
			}
		}
		if r, found, err := b.Peek(bound); r != other || !found || err != nil {
			w.Errorf("peek: %v, %v, %v, want the request that was not added", r, found, err)
		}
		if n, err := q.Wait(noContext, make([]mx.Completion, 1), 0); n != 0 || err != nil {
			w.Errorf("an empty queue: %d, %v", n, err)
		}
		w.succeed(b, other)
	})
}

func TestQueueTakesACompletedRequest(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		q, r := w.queue(b), w.irecv(b, nil, 1, exact)
		w.isend(a, nil, toB, 1)
		if got, found, err := b.Peek(bound); got != r || !found || err != nil {
			w.Fatal(got, found, err)
		}
		w.add(q, r)
		if _, found, err := b.Ipeek(); found || err != nil {
			w.Errorf("what was added is still the endpoint's: %v", err)
		}
		if c := w.collect(q, 1); c[0].Request != r {
			w.Errorf("%+v", c)
		}
	})
}

func TestRequestsOfAQueueAreTestedAndCancelledAsOthers(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		q := w.queue(b)
		one, two, three := w.irecv(b, nil, 1, exact), w.irecv(b, nil, 2, exact), w.irecv(b, nil, 3, exact)
		w.add(q, one, two, three)
		w.isend(a, nil, toB, 1)
		w.succeed(b, one)
		if ok, err := b.Cancel(two); !ok || err != nil {
			w.Errorf("cancel: %v, %v", ok, err)
		}
		q.Close()
		w.isend(a, nil, toB, 3)
		if r, found, err := b.Peek(bound); r != three || !found || err != nil {
			w.Errorf("the request of a closed queue: %v, %v, %v", r, found, err)
		}
		if err := q.Add(three); !errors.Is(err, mx.ErrBadEndpoint) {
			w.Errorf("add to a closed queue: %v", err)
		}
	})
}

func TestQueueOverSeveralEndpoints(t *testing.T) {
	over(t, func(w *world) {
		from := w.open()
		eps := []*mx.Endpoint{w.open(), w.open(), w.open()}
		var addrs []mx.EndpointAddr
		for _, ep := range eps {
			addrs = append(addrs, w.connect(from, ep))
		}
		q := w.queue(eps...)
		const rounds = 50
		for round := range uint64(rounds) {
			at := int(round) % len(eps)
			r := w.irecv(eps[at], nil, round, exact)
			w.add(q, r)
			var sender sync.WaitGroup
			sender.Go(func() {
				if round%2 == 0 {
					time.Sleep(time.Millisecond / 2) // the waiter parks in some rounds
				}
				w.isend(from, nil, addrs[at], round)
			})
			if c := w.collect(q, 1); c[0].Request != r || c[0].Status.MatchInfo != round {
				w.Fatalf("round %d: %+v", round, c)
			}
			sender.Wait()
		}
	})
}

// A handler is given what completes, in order, whether somebody waits for something else or nobody calls at all. What it
// posts completes into the queue as well.
func TestQueueHandler(t *testing.T) {
	for name, waits := range map[string]bool{"somebody waits": true, "nobody calls": false} {
		t.Run(name, func(t *testing.T) {
			over(t, func(w *world) {
				a, b, toB, _ := w.pair()
				const count = 100
				q, wake, in, out := w.queue(b), b.NewWaiter(), make([]byte, 100_000), make([]byte, 100_000)
				var seen []uint64
				all := make(chan struct{})
				again := func(c mx.Completion) {
					seen = append(seen, c.Status.MatchInfo)
					if len(seen) == count {
						wake.Wake()
						close(all)
						return
					}
					r, err := b.Irecv(in, uint64(len(seen)), exact, "context")
					if err == nil {
						err = q.Add(r)
					}
					if err != nil || len(seen) > 1 && c.Status.Context != "context" {
						w.Errorf("%+v, %v", c, err)
					}
				}
				if err := q.Handle(func(done []mx.Completion) {
					for _, c := range done {
						again(c)
					}
				}); err != nil {
					w.Fatal(err)
				}
				w.add(q, w.irecv(b, in, 0, exact))
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					if waits {
						for ok := false; !ok; {
							ok, _ = wake.Wait(bound)
						}
					}
				}()
				for i := range uint64(count) {
					w.succeed(a, w.isend(a, out[:1+i*900], toB, i))
				}
				receive(w, "the last completion", all)
				receive(w, "the end of the waiter", ended)
				for i, m := range seen {
					if m != uint64(i) {
						t.Fatalf("completion %d is of %d", i, m)
					}
				}
			})
		})
	}
}

func TestQueueWaitsEnd(t *testing.T) {
	over(t, func(w *world) {
		for _, n := range []int{1, 2} {
			eps := []*mx.Endpoint{w.open(), w.open()}[:n]
			q := w.queue(eps...)
			dst := make([]mx.Completion, 1)
			wait := func(ctx context.Context, timeout time.Duration) (err error) {
				within(w, "Queue.Wait", func() {
					var got int
					if got, err = q.Wait(ctx, dst, timeout); got != 0 {
						err = errors.New("something has completed")
					}
				})
				return err
			}
			if err := wait(noContext, time.Millisecond); err != nil {
				w.Errorf("%d endpoints, timeout: %v", n, err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
			if err := wait(ctx, mx.Infinite); !errors.Is(err, context.DeadlineExceeded) {
				w.Errorf("%d endpoints, context: %v", n, err)
			}
			cancel()
			time.AfterFunc(time.Millisecond, q.Close)
			if err := wait(noContext, mx.Infinite); !errors.Is(err, mx.ErrBadEndpoint) {
				w.Errorf("%d endpoints, closed queue: %v", n, err)
			}
		}
	})
}

func TestQueueRefuses(t *testing.T) {
	w := newWorld(t, "mem")
	a, b := w.open(), w.open()
	if _, err := mx.NewQueue(); !errors.Is(err, mx.ErrBadParamVal) {
		t.Errorf("no endpoints: %v", err)
	}
	if _, err := mx.NewQueue(a, a); !errors.Is(err, mx.ErrBadParamVal) {
		t.Errorf("the same endpoint twice: %v", err)
	}
	_, err := mx.NewQueue(a, nil)
	refused(t, err, mx.ErrBadEndpoint, "new queue: endpoint 2 of 2 is nil")
	q := w.queue(a)
	refused(t, q.Add(w.irecv(b, nil, 1, exact)), mx.ErrBadParamVal, "add to queue: the queue is not over this endpoint")
	if err := q.Add(mx.Request{}); !errors.Is(err, mx.ErrBadRequest) {
		t.Errorf("the zero request: %v", err)
	}
	stale := w.irecv(a, nil, 1, exact)
	if err := a.Forget(stale); err != nil {
		t.Fatal(err)
	}
	err = q.Add(stale)
	refused(t, err, mx.ErrBadRequest)
	if text := err.Error(); strings.Count(text, "stale") != 1 {
		t.Errorf("it says its reason more than once: %s", text)
	}
	handler := func([]mx.Completion) {}
	refused(t, q.Handle(nil), mx.ErrBadParamVal, "nil")
	if err := q.Handle(handler); err != nil {
		t.Error(err)
	}
	const handled = "the queue has a handler, which alone gets what completes"
	refused(t, q.Handle(handler), mx.ErrBadParamVal, "handle queue: "+handled)
	_, err = q.Wait(noContext, make([]mx.Completion, 1), mx.Infinite)
	refused(t, err, mx.ErrBadParamVal, "wait for queue: "+handled)
	refused(t, w.queue(a, b).Handle(handler), mx.ErrBadParamVal, "several endpoints")
}

func TestClosedQueueSaysThatItIsClosed(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		q := w.queue(a)
		q.Close()
		_, err := q.Wait(noContext, make([]mx.Completion, 1), bound)
		refused(w, err, mx.ErrBadEndpoint, "the queue is closed")
		refused(w, q.Add(w.irecv(a, nil, 1, exact)), mx.ErrBadEndpoint, "the queue is closed")
		_, err = q.Arm()
		refused(w, err, mx.ErrBadEndpoint, "the queue is closed")
		_, err = q.PollFDs()
		refused(w, err, mx.ErrBadEndpoint, "the queue is closed")
		refused(w, q.Handle(func([]mx.Completion) {}), mx.ErrBadEndpoint, "the queue is closed")
	})
}

// The requests of a queue that is closed are the endpoint's in the order in which they were complete.
func TestClosedQueueKeepsTheOrder(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		q, order := w.queue(b), []int{3, 1, 4, 0, 2}
		reqs := make([]mx.Request, len(order))
		for i := range reqs {
			reqs[i] = w.irecv(b, nil, uint64(i), exact)
		}
		w.add(q, reqs...)
		for _, i := range order {
			w.isend(a, nil, toB, uint64(i))
		}
		w.isend(a, nil, toB, 5)
		w.succeed(b, w.irecv(b, nil, 5, exact))
		q.Close()
		for _, i := range order {
			if r, found, err := b.Peek(bound); r != reqs[i] || !found || err != nil {
				w.Fatalf("%v in place of %d: %v", r.Number(), i, err)
			}
			w.succeed(b, reqs[i])
		}
	})
}

func TestWaitAllCollectsUnderOneLock(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		reqs, states := make([]mx.Request, 6), make([]mx.Status, 6)
		for i := range 5 {
			reqs[i+1] = w.irecv(b, nil, uint64(i), exact)
		}
		for _, i := range []uint64{4, 1, 2, 0} {
			w.isend(a, nil, toB, i)
		}
		if done, err := b.TestAll(reqs, states); done || err != nil || reqs[1].IsZero() {
			w.Fatalf("one is missing: %v, %v", done, err)
		}
		if done, err := b.WaitAll(noContext, reqs, states, time.Millisecond); done || err != nil || reqs[4].IsZero() {
			w.Fatalf("one is missing: %v, %v", done, err)
		}
		w.isend(a, nil, toB, 3)
		if done, err := b.WaitAll(noContext, reqs, states, bound); !done || err != nil {
			w.Fatal(done, err)
		}
		for i := range 5 {
			if !reqs[i+1].IsZero() || states[i+1].MatchInfo != uint64(i) {
				w.Errorf("%d: %+v", i, states[i+1])
			}
		}
		gone := w.irecv(b, nil, 9, exact)
		if _, err := b.Cancel(gone); err != nil {
			w.Fatal(err)
		}
		if _, err := b.WaitAll(noContext, []mx.Request{gone}, nil, bound); !errors.Is(err, mx.ErrBadRequest) {
			w.Errorf("a cancelled request: %v", err)
		}
	})
}

func TestWaitSomeCollectsWhatIsComplete(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		reqs := make([]mx.Request, 6)
		for i := range 5 {
			reqs[i+1] = w.irecv(b, nil, uint64(i), exact)
		}
		dst := make([]mx.Completion, 6)
		if n, err := b.WaitSome(noContext, reqs, dst, 0); n != 0 || err != nil {
			w.Fatal(n, err)
		}
		seen := map[int]bool{}
		for _, i := range []uint64{4, 1, 2, 0, 3} {
			w.isend(a, nil, toB, i)
			n, err := b.WaitSome(noContext, reqs, dst, bound)
			if n != 1 || err != nil || dst[0].Index != int(i)+1 || dst[0].Status.MatchInfo != i || !reqs[i+1].IsZero() {
				w.Fatalf("%d, %v: %+v", n, err, dst[0])
			}
			seen[dst[0].Index] = true
		}
		if n, err := b.WaitSome(noContext, reqs, dst, bound); n != 0 || err != nil || len(seen) != 5 {
			w.Errorf("none is left: %d, %v, %v", n, err, seen)
		}
	})
}

func TestNoAllocationsForBatches(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates by itself")
	}
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		q := w.queue(b)
		reqs, states, dst := make([]mx.Request, 8), make([]mx.Status, 8), make([]mx.Completion, 8)
		post := func() {
			for i := range reqs {
				reqs[i] = w.irecv(b, nil, uint64(i), exact)
			}
			for i := range reqs {
				w.succeed(a, w.isend(a, nil, toB, uint64(i)))
			}
		}
		runs := map[string]func(){
			"WaitAll": func() {
				post()
				if done, err := b.WaitAll(noContext, reqs, states, bound); !done || err != nil {
					w.Error(done, err)
				}
			},
			"WaitSome": func() {
				post()
				for n := 0; n < len(reqs); {
					got, err := b.WaitSome(noContext, reqs, dst, bound)
					if n += got; got == 0 || err != nil {
						w.Fatal(got, err)
					}
				}
			},
			"Queue.Wait": func() {
				post()
				w.add(q, reqs...)
				for n := 0; n < len(reqs); {
					got, err := q.Wait(noContext, dst, bound)
					if n += got; got == 0 || err != nil {
						w.Fatal(got, err)
					}
				}
			},
		}
		for name, run := range runs {
			for range 5 {
				run()
			}
			if n := w.allocations(50, run); n != 0 {
				w.Errorf("%s: %v allocations a batch", name, n)
			}
		}
	})
}

// A queue that is closed says so, also to a caller whose context has ended.
func TestQueueClosedBesideAnEndedContext(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), w.open()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		for _, over := range [][]*mx.Endpoint{{a}, {a, b}} {
			q := w.queue(over...)
			q.Close()
			_, err := q.Wait(ctx, make([]mx.Completion, 1), mx.Infinite)
			refused(w, err, mx.ErrBadEndpoint)
		}
	})
}

// TestForgottenInAQueue: a request that was added to a queue and then forgotten ends without a completion.
func TestForgottenInAQueue(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		q, in := w.queue(a, b), make([]byte, 100_000)
		for range 3 {
			came := w.irecv(b, in, 1, exact)
			w.add(q, came)
			w.must(b.Forget(came))
			sent := w.isend(a, make([]byte, len(in)), toB, 1)
			w.add(q, sent)
			w.must(a.Forget(sent))
			last := w.irecv(b, nil, 2, exact)
			w.add(q, last)
			w.isend(a, nil, toB, 2)
			if got := w.collect(q, 1); got[0].Request != last {
				w.Errorf("%+v", got)
			}
			w.until("all is over", func() bool { return len(a.Pending())+len(b.Pending()) == 0 })
		}
	})
}
