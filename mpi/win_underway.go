package mpi

import (
	"cmp"
	"context"

	"gomx/mx"
)

// underway is the operations of a rank at a target that may not be complete.
type underway struct {
	requests []mx.Request // of puts, gets and atomics
	puts     bool         // small puts and atomics without a request
	accs     bool         // accumulates of large elements, and questions that were given up
}

// take waits until no other goroutine completes the operations at the target, and takes them over until give. some is
// false if there are none. If ctx ends first, it returns its error.
func (t *target) take(ctx context.Context) (u underway, some bool, err error) {
	t.mu.Lock()
	for t.busy {
		if t.left == nil {
			t.left = make(chan struct{})
		}
		left := t.left
		t.mu.Unlock()
		select {
		case <-left:
		case <-ctx.Done():
			return u, false, ctx.Err()
		}
		t.mu.Lock()
	}
	if u = t.under; u.puts || u.accs || len(u.requests) > 0 {
		t.busy, t.under, t.spare = true, underway{requests: t.spare}, nil
		some = true
	}
	t.mu.Unlock()
	return u, some, nil
}

// give gives back the operations that are not complete, from a request on, and lets other goroutines take over.
func (t *target) give(u underway, from int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rest := u.requests[:copy(u.requests, u.requests[from:])]
	later := t.under.requests
	t.under.requests, t.spare = append(rest, later...), later[:0]
	t.under.puts = t.under.puts || u.puts
	t.under.accs = t.under.accs || u.accs
	t.busy = false
	if t.left != nil {
		close(t.left)
		t.left = nil
	}
}

// complete waits until all operations at a target are complete: here if local is true, otherwise there too.
func (w *window) complete(t *target, op string, rank int, local bool) error {
	u, some, err := t.take(w.c.background())
	if err != nil {
		return w.fail(op, rank, ErrOther, err)
	}
	if !some {
		_ = w.c.seat.ep.Progress() // who calls it over and over waits for what others do; an error: the endpoint is closed
		return nil
	}
	done := 0
	defer func() { t.give(u, done) }()
	if u.puts && !local {
		if err := w.follow(t, &u, op, rank); err != nil {
			return err
		}
	}
	done, err = w.drain(u.requests, op, rank)
	if done < len(u.requests) || !u.accs || local {
		return err
	}
	u.accs = false
	return cmp.Or(err, w.ask(op, rank, askFlush, head{}, nil, nil))
}

// expectEffects notes that the target's service may not have handled a question or note yet.
func (t *target) expectEffects() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.under.accs = true
}

// follow starts an empty put, which completes after all small puts that have no requests.
func (w *window) follow(t *target, u *underway, op string, rank int) error {
	p, err := w.c.peer(op, rank, Undefined)
	if err != nil {
		return renamed(err, "Win."+op)
	}
	r, err := w.c.seat.ep.Iput(nil, p.addr, t.handle, 0, windowBits, nil)
	if err != nil {
		return w.fail(op, rank, ErrOther, err)
	}
	u.puts, u.requests = false, append(u.requests, r)
	return nil
}

// drain waits for puts and gets, and returns how many have ended, and the first error. Only the end of the context
// leaves some pending.
func (w *window) drain(requests []mx.Request, op string, rank int) (ended int, first error) {
	for i, r := range requests {
		ended, err := w.wait(r, op, rank)
		if !ended {
			return i, err
		}
		if first == nil {
			first = err
		}
	}
	return len(requests), first
}

// wait waits for a put, get or atomic. It returns false if the context has ended first.
func (w *window) wait(r mx.Request, op string, rank int) (ended bool, err error) {
	var st mx.Status
	var done bool
	if w.c.ctx == nil {
		st, done, err = w.c.seat.ep.Wait(r, mx.Infinite)
	}
	if !done && err == nil {
		st, done, err = w.c.awaitLong(w.c.ctx, "Win."+op, r, false, w.c.ctx == nil)
	}
	switch {
	case !done && w.ended():
		return false, w.fail(op, rank, ErrOther, w.c.ctx.Err())
	case done && isLoss(st.Code):
		err = w.c.seat.job.lose(w.c.worldRank(rank), st.Code)
	case done && st.Code != mx.StatusSuccess:
		err = st.Code
	}
	if err != nil {
		return true, w.broken(op, rank, err)
	}
	return true, nil
}

// begin locks the target for another put or get. If very many are pending, it first waits for them.
func (w *window) begin(t *target, op string, rank int) error {
	if failures := &w.c.seat.job.failures; failures.count.Load() != 0 {
		if dead := failures.why(w.c.worldRank(rank)); dead != nil {
			return w.fail(op, rank, ErrProcFailed, dead)
		}
	}
	t.mu.Lock()
	if len(t.under.requests) < mostPending {
		return nil
	}
	t.mu.Unlock()
	if err := w.complete(t, op, rank, true); err != nil {
		return err
	}
	t.mu.Lock()
	return nil
}

// ended reports whether the context of the calls on the window has ended.
func (w *window) ended() bool { return w.c.ctx != nil && w.c.ctx.Err() != nil }
