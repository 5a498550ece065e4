package driver

import (
	"context"
	"time"

	"gomx/endpoint"
)

// waitKind says what a caller waits for.
type waitKind uint8

const (
	forRequest waitKind = iota // handle completes; it is collected
	forAny                     // a completed request fits value and mask; it is collected
	forPeek                    // a request is complete
	forProbe                   // an unexpected message fits value and mask
	forWindow                  // no link touches the closed window named value
	forSet                     // what is wanted of a set of requests
	forQueue                   // a request of the queue named value is complete; it stays
	forClaim                   // like forProbe, and the message is claimed
	forWake                    // Wake of a Waiter is called
)

// want is what a caller waits for.
type want struct {
	kind        waitKind
	handle      endpoint.Handle
	value, mask uint64
	set         *set
	waiter      *Waiter
}

// take collects a request that is wanted, if there is one. A set does what it is there for.
func (q *want) take(d *Endpoint, st *endpoint.Status) (bool, error) {
	switch q.kind {
	case forRequest:
		return d.eng.Test(q.handle, st)
	case forSet:
		return q.set.look(d.eng)
	case forWake:
		return q.waiter.take(), nil
	case forQueue:
		return d.eng.Queued(endpoint.QueueID(q.value)) > 0, nil
	}
	return d.eng.TestAny(q.value, q.mask, st)
}

// waiter is one blocked caller.
type waiter struct {
	want
	deadline time.Time // zero: none
	wakeups  uint64    // of the endpoint, when the wait began

	status endpoint.Status
	claim  endpoint.Claim
	ok     bool  // what it waited for has happened
	err    error // or can't happen any more

	ctx     context.Context
	poller  bool // has the polling role
	passive bool // waits on several endpoints, and polls none of them
	signal  chan struct{}
}

// over reports whether there is no reason to wait on.
func (w *waiter) over(d *Endpoint) bool {
	if w.ok || w.err != nil {
		return true
	}
	if w.kind == forRequest && d.eng.Done(w.handle) || w.kind == forWake && w.waiter.woken.Load() {
		return true
	}
	return d.wakeups != w.wakeups || d.closed
}

func (w *waiter) late(now time.Time) bool {
	return !w.deadline.IsZero() && !now.Before(w.deadline)
}

// check looks whether what w waits for is there, and takes it.
func (w *waiter) check(d *Endpoint) {
	switch w.kind {
	case forRequest, forAny, forSet, forWake:
		w.ok, w.err = w.take(d, &w.status)
	case forPeek:
		w.handle, w.ok = d.eng.Peek()
	case forProbe:
		w.ok, w.err = d.eng.Probe(w.value, w.mask, &w.status)
	case forClaim:
		w.claim, w.ok, w.err = d.eng.Claim(w.value, w.mask, &w.status)
	case forWindow:
		w.ok = !d.eng.WindowBusy(w.value)
	case forQueue:
		w.ok = d.eng.Queued(endpoint.QueueID(w.value)) > 0
	}
}

// parking holds the blocked callers in order of arrival, the poller among them.
type parking struct {
	all     []*waiter
	wakers  []*Waiter // whose callers are not in all
	spare   []*waiter
	probing int
}

func (p *parking) get() *waiter {
	if n := len(p.spare); n > 0 {
		w := p.spare[n-1]
		p.spare = p.spare[:n-1]
		return w
	}
	return &waiter{signal: make(chan struct{}, 1)}
}

func (p *parking) put(w *waiter) {
	signal := w.signal
	select {
	case <-signal:
	default:
	}
	*w = waiter{signal: signal}
	p.spare = append(p.spare, w)
}

// enter adds a waiter that is about to block.
func (d *Endpoint) enter(w *waiter) {
	d.blocked++
	if w.kind == forWake {
		w.waiter.enter(w)
		return
	}
	d.parked.all = append(d.parked.all, w)
	if w.kind == forProbe {
		if d.parked.probing++; d.parked.probing == 1 {
			d.eng.Trace(true)
		}
	}
}

func (d *Endpoint) exit(w *waiter) {
	d.blocked--
	if w.kind == forWake {
		w.waiter.exit()
		return
	}
	all := d.parked.all
	for i := range all {
		if all[i] == w {
			copy(all[i:], all[i+1:])
			all[len(all)-1] = nil
			d.parked.all = all[:len(all)-1]
			break
		}
	}
	if w.kind == forProbe {
		if d.parked.probing--; d.parked.probing == 0 {
			d.eng.Trace(false)
		}
	}
}

// serve gives blocked callers what has come for them, in order of their arrival.
func (d *Endpoint) serve() {
	if d.parked.probing > 0 {
		d.eng.TakeArrivals(d.offer)
	}
	for _, w := range d.parked.all {
		if w.ok || w.err != nil {
			continue
		}
		switch w.kind {
		case forRequest:
			if !w.poller && !d.eng.Pending(w.handle) {
				w.check(d)
				w.wake(d)
			}
		case forAny:
			if d.eng.Completed() > 0 {
				w.check(d)
				if w.ok {
					w.wake(d)
				}
			}
		case forPeek:
			if w.handle, w.ok = d.eng.PeekFresh(); w.ok {
				w.wake(d)
			}
		case forWindow, forSet, forClaim, forQueue:
			if w.check(d); w.ok || w.err != nil {
				w.wake(d)
			}
		}
	}
	if d.asleep {
		d.wakeSleeper()
	}
}

// offer shows a new unexpected message to the oldest blocked probe that it fits.
func (d *Endpoint) offer(st *endpoint.Status) {
	for _, w := range d.parked.all {
		if w.kind == forProbe && !w.ok && st.Match&w.mask == w.value {
			w.status, w.ok = *st, true
			w.wake(d)
			return
		}
	}
}

// wakeSleeper wakes the poller if it sleeps though its wait is over.
func (d *Endpoint) wakeSleeper() {
	for _, w := range d.parked.all {
		if w.poller && w.over(d) {
			d.bell.Ring()
		}
	}
}

func (w *waiter) wake(d *Endpoint) {
	if w.poller {
		if d.asleep {
			d.bell.Ring()
		}
		return
	}
	select {
	case w.signal <- struct{}{}:
	default:
	}
}

// handOver offers the polling role to the first caller that is parked, or else, if somebody waits at all,
// to the background goroutine.
func (d *Endpoint) handOver() {
	passive := false
	for _, w := range d.parked.all {
		switch {
		case w.poller || w.ok || w.err != nil:
		case w.passive:
			passive = true
		default:
			w.wake(d)
			return
		}
	}
	for _, v := range d.parked.wakers {
		switch {
		case v.w.poller || v.woken.Load():
		case v.passive:
			passive = true
		default:
			v.w.wake(d)
			return
		}
	}
	if passive {
		d.back.begins()
	}
}

// wakeAll ends all blocking calls (III.3.3).
func (d *Endpoint) wakeAll() {
	d.wakeups++
	d.wakeParked()
	if d.asleep {
		d.bell.Ring()
	}
}
