package mx_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"gomx/mx"
)

func TestWaitFirstNamesTheFirstInTheList(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		reqs := make([]mx.Request, 6)
		for i := range 5 {
			reqs[i+1] = w.irecv(b, nil, uint64(i), exact)
		}
		for _, want := range []int{4, 2, 3} {
			w.isend(a, nil, toB, uint64(want-1))
			for range 2 { // it collects nothing
				if i, ok, err := b.WaitFirst(noContext, reqs, bound); i != want || !ok || err != nil {
					w.Fatalf("%d, %v, %v, want %d", i, ok, err, want)
				}
			}
			if st, ok, err := b.Test(reqs[want]); !ok || err != nil || st.MatchInfo != uint64(want-1) {
				w.Fatalf("%+v, %v, %v", st, ok, err)
			}
			reqs[want] = mx.Request{}
		}
		for _, timeout := range []time.Duration{0, 1} {
			if i, ok, err := b.WaitFirst(noContext, reqs, timeout); i != -1 || ok || err != nil {
				w.Errorf("nothing is complete: %d, %v, %v", i, ok, err)
			}
		}
	})
}

func TestWaitFirstIsWoken(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		type found struct {
			i   int
			ok  bool
			err error
		}
		var all sync.WaitGroup
		answers := make([]found, 4)
		for g := range answers {
			reqs := []mx.Request{w.irecv(b, nil, uint64(10*g), exact), w.irecv(b, nil, uint64(10*g+1), exact)}
			all.Go(func() {
				f := &answers[g]
				f.i, f.ok, f.err = b.WaitFirst(noContext, reqs, bound)
			})
		}
		waitBlocked(w, len(answers))
		for g := range answers {
			w.isend(a, nil, toB, uint64(10*g+g%2))
		}
		all.Wait()
		for g, f := range answers {
			if want := (found{g % 2, true, nil}); f != want {
				w.Errorf("goroutine %d: %+v, want %+v", g, f, want)
			}
		}
	})
}

func TestWaitFirstEnds(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		reqs := []mx.Request{w.irecv(b, nil, 1, exact), w.irecv(b, nil, 99, exact)}
		type found struct {
			i   int
			ok  bool
			err error
		}
		begin := func(ctx context.Context) chan found {
			answer := make(chan found, 1)
			go func() {
				i, ok, err := b.WaitFirst(ctx, reqs, bound)
				answer <- found{i, ok, err}
			}()
			waitBlocked(w, 1)
			return answer
		}
		ctx, cancel := context.WithCancel(context.Background())
		answer := begin(ctx)
		cancel()
		if f := receive(w, "the context ends it", answer); f.ok || f.i != -1 || !errors.Is(f.err, context.Canceled) {
			w.Errorf("%+v", f)
		}
		answer = begin(noContext)
		b.Wakeup()
		if f := receive(w, "a wake-up ends it", answer); f.ok || f.i != -1 || f.err != nil {
			w.Errorf("%+v", f)
		}
		answer = begin(noContext)
		if ok, err := b.Cancel(reqs[1]); !ok || err != nil {
			w.Fatal(ok, err)
		}
		f := receive(w, "a cancelled request ends it", answer)
		refused(w, f.err, mx.ErrBadRequest, "wait first")
		if f.i != 1 || f.ok {
			w.Errorf("%+v", f)
		}
		reqs = reqs[:1]
		answer = begin(noContext)
		w.isend(a, nil, toB, 1)
		if f := receive(w, "a message ends it", answer); f.i != 0 || !f.ok || f.err != nil {
			w.Errorf("%+v", f)
		}
		w.succeed(b, reqs[0])
		reqs[0] = w.irecv(b, nil, 1, exact)
		answer = begin(noContext)
		if err := b.Close(); err != nil {
			w.Fatal(err)
		}
		f = receive(w, "the endpoint's end ends it", answer)
		refused(w, f.err, mx.ErrBadEndpoint, "wait first")
	})
}

func TestWaitFirstRefuses(t *testing.T) {
	over(t, func(w *world) {
		a, b, _, _ := w.pair()
		for _, reqs := range [][]mx.Request{nil, {{}, {}}} {
			i, _, err := a.WaitFirst(noContext, reqs, bound)
			refused(w, err, mx.ErrBadRequest, "wait first")
			if i != -1 {
				w.Error(i)
			}
		}
		mine, foreign := w.irecv(a, nil, 1, exact), w.irecv(b, nil, 1, exact)
		i, _, err := a.WaitFirst(noContext, []mx.Request{mine, foreign}, bound)
		refused(w, err, mx.ErrBadRequest, "wait first")
		if i != 1 {
			w.Error(i)
		}
		if err := a.Forget(mine); err != nil {
			w.Fatal(err)
		}
		i, _, err = a.WaitFirst(noContext, []mx.Request{{}, mine}, bound)
		refused(w, err, mx.ErrBadRequest, "wait first")
		if i != 1 {
			w.Error(i)
		}
	})
}

func TestWaitFirstOfASingleThreadedEndpoint(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair(mx.SingleThreaded())
		reqs := []mx.Request{w.irecv(b, nil, 1, exact), w.irecv(b, nil, 2, exact)}
		w.isend(a, nil, toB, 2)
		if err := a.Progress(); err != nil { // nobody else moves it on
			w.Fatal(err)
		}
		if i, ok, err := b.WaitFirst(context.Background(), reqs, bound); i != 1 || !ok || err != nil {
			w.Error(i, ok, err)
		}
	})
}
