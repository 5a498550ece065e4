package driver

import (
	"errors"
	"fmt"
	"math"
	"runtime/trace"
	"sync/atomic"
	"time"

	"gomx/endpoint"
)

// waitKind says what a caller waits for.
type waitKind uint8

const (
	forRequest waitKind = iota // handle completes; it is collected
	forAny                     // a completed request fits value and mask; it is collected
	forSet                     // what is wanted of a set of requests
	forQueue                   // a request of the queue of member is complete; it stays
	forWake                    // Wake of a Waiter is called
	forInline                  // the inline receive has a message, or has been posted
	forPeek                    // a request is complete
	forProbe                   // an unexpected message fits value and mask
	forWindow                  // no link touches the closed window named value
	forClaim                   // like forProbe, and the message is claimed
	forEver                    // nothing: it is the endpoint's own goroutine
)

// early reports whether waiters of this kind are listed at once, and so served in the order of their calls. Other waiters
// check for themselves until they first release the lock, so that most of them are never listed.
func (k waitKind) early() bool { return k >= forPeek && k != forEver }

// want is what a caller waits for.
type want struct {
	kind        waitKind
	handle      endpoint.Handle
	value, mask uint64
	set         *set
	member      *member
	waiter      *Waiter
}

// take collects a request that q waits for, if there is one. For a set it collects what the set's aim says.
func (q *want) take(d *Endpoint, st *endpoint.Status) (bool, error) {
	switch q.kind {
	case forRequest:
		return d.eng.Test(q.handle, st)
	case forSet:
		return q.set.look(d.eng)
	case forWake:
		return q.waiter.take(), nil
	case forQueue:
		switch m := q.member; {
		case m.closed:
			return false, ErrQueueClosed
		case d.handed(m.id):
			return false, ErrHandled
		default:
			return d.eng.Queued(m.id) > 0, nil
		}
	}
	return d.eng.TestAny(q.value, q.mask, st)
}

// saw notes the time, which the caller has read for a purpose of its own.
func (w *waiter) saw(now time.Duration) {
	if w.began == unread {
		w.began = now
	}
	w.seen = now
}

// classIn returns the class of messages that the wait counts for.
func (q *want) classIn(e *endpoint.Engine) uint64 {
	switch q.kind {
	case forRequest:
		return e.ClassOf(q.handle)
	case forSet:
		return e.ClassOf(q.set.some())
	case forInline:
		return e.ClassOfInline()
	case forAny, forProbe, forClaim:
		if e.ClassOfMatch(q.mask) == e.ClassOfMatch(math.MaxUint64) {
			return e.ClassOfMatch(q.value)
		}
	}
	return 0
}

// never is a time by the endpoint's clock that does not come.
const never = time.Duration(math.MaxInt64)

// waiter is one blocked caller, or the endpoint's own goroutine.
type waiter struct {
	want
	until   time.Duration // by the endpoint's clock
	wakeups uint64        // the endpoint's number of Wakeups when the wait began

	status endpoint.Status
	claim  endpoint.Claim
	ok     bool        // what it waited for has happened
	err    error       // why it can't happen any more
	late   bool        // its timeout has passed
	ended  atomic.Bool // its context has ended

	began, seen time.Duration // the first and the last look at the clock since it was listed
	traced      int64         // when it was listed, by the clock of the recorder
	region      *trace.Region // of Go's execution trace, while one is made
	class       uint64        // of the messages that the wait counts for

	listed  bool // in the list of waiters that are served
	called  bool // a signal to check may be pending
	passive bool // never polls, and leaves that to others
	parks   bool // has to park although the polling role is free
	polled  bool // has made the polls with which a wait begins
	signal  chan struct{}
	timer   *time.Timer // of waits that park until a time
	next    *waiter     // next in the list of spare waiters
}

// over reports whether the wait has ended. The lock is held.
func (w *waiter) over(d *Endpoint) bool {
	if !w.listed || w.kind == forWake {
		w.check(d)
	}
	return w.ok || w.err != nil || w.late || d.wakeups != w.wakeups || d.closed || d.threw() || w.ended.Load()
}

// check takes what w waits for if it has arrived.
func (w *waiter) check(d *Endpoint) {
	if w.ok || w.err != nil {
		return
	}
	switch w.kind {
	case forRequest:
		w.ok, w.err = d.eng.Test(w.handle, &w.status)
	case forAny, forSet, forQueue, forWake:
		w.ok, w.err = w.take(d, &w.status)
	case forInline:
		w.ok = !d.eng.InlinePending()
	case forPeek:
		if w.listed {
			w.handle, w.ok = d.eng.PeekFresh()
		} else {
			w.handle, w.ok = d.eng.Peek()
		}
	case forProbe:
		if !w.listed { // a listed probe is offered what arrives
			w.ok, w.err = d.eng.Probe(w.value, w.mask, &w.status)
		}
	case forClaim:
		w.claim, w.ok, w.err = d.eng.Claim(w.value, w.mask, &w.status)
	case forWindow:
		w.ok = !d.eng.WindowBusy(w.value)
	}
}

// GoneError is the error of a wait whose request is gone: another goroutine, or a handler, has
// cancelled, forgotten or completed it, or one of several requests stands in the call twice. It is an endpoint.ErrBadRequest.
type GoneError struct {
	Request endpoint.Handle
	Several bool // the call waits for several requests
}

// Error names the request.
func (e *GoneError) Error() string {
	text := fmt.Sprintf("request %#x was cancelled, forgotten or collected meanwhile, by another goroutine or a handler", uint64(e.Request))
	if e.Several {
		text += ", or stands in the call twice"
	}
	return text
}

// Unwrap returns endpoint.ErrBadRequest.
func (e *GoneError) Unwrap() error { return endpoint.ErrBadRequest }

// gone returns the error for a request that has become stale during the wait, in place of err.
func (q *want) gone(err error) error {
	if !errors.Is(err, endpoint.ErrBadRequest) {
		return err
	}
	if q.kind == forSet {
		return &GoneError{Request: q.set.handles[q.set.first], Several: true}
	}
	return &GoneError{Request: q.handle}
}

// parking holds the blocked callers in order of arrival, the poller among them.
type parking struct {
	all     []*waiter
	wakers  []*Waiter // blocked Waiters, which are not in all
	passive int       // number of passive waiters in both
	spare   *waiter   // linked by next
	probing int
}

func (p *parking) get(q *want) *waiter {
	var w *waiter
	switch {
	case q.kind == forWake:
		w = &q.waiter.w
		w.waiter, w.passive = q.waiter, q.waiter.passive
	case p.spare != nil:
		w = p.spare
		p.spare = w.next
	default:
		w = &waiter{signal: make(chan struct{}, 1)}
	}
	w.kind, w.handle, w.value, w.mask, w.until = q.kind, q.handle, q.value, q.mask, never // see Status.Assign
	if q.set != nil || q.member != nil {
		w.set, w.member = q.set, q.member
	}
	return w
}

// put keeps a waiter for the next caller.
func (p *parking) put(w *waiter) {
	if w.kind != forWake {
		w.next, p.spare = p.spare, w
	}
	if w.ok, w.polled = false, false; w.called || w.kind != forRequest || w.err != nil || w.status.Context != nil {
		w.clear()
	}
}

// clear forgets a wait, and a signal to check. One for a request that was never listed leaves nothing to clear, unless it failed.
func (w *waiter) clear() {
	w.late, w.parks, w.called, w.began, w.seen = false, false, w.kind == forWake, unread, unread
	w.err, w.set, w.member, w.status.Context = nil, nil, nil, nil
	if len(w.signal) != 0 {
		<-w.signal
	}
}

// list adds w to the waiters that the poller serves. A caller is listed before it releases the lock.
func (d *Endpoint) list(w *waiter) {
	if w.listed || w.kind == forEver {
		return
	}
	if w.set != nil {
		w.set.doubt()
	}
	w.class, w.began = w.classIn(d.eng), unread
	w.check(d)
	w.listed, w.called, w.seen = true, true, unread
	d.beginsWaiting(w)
	d.blocked++
	if w.passive {
		d.parked.passive++
	}
	if w.kind == forWake {
		w.waiter.enter()
		return
	}
	d.parked.all = append(d.parked.all, w)
	if w.kind == forProbe {
		if d.parked.probing++; d.parked.probing == 1 {
			d.eng.Trace(true)
		}
	}
}

func (d *Endpoint) unlist(w *waiter) {
	if w.listed {
		d.takeOff(w)
	}
}

func (d *Endpoint) takeOff(w *waiter) {
	w.listed = false
	d.endsWaiting(w)
	d.eng.Waited(w.class, uint64(w.seen-w.began))
	if d.timed {
		d.sampler.since += w.seen - w.began
	}
	d.blocked--
	if w.passive {
		d.parked.passive--
	}
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

// serve gives blocked callers what has arrived for them, in the order in which they began to wait.
func (d *Endpoint) serve() {
	if d.parked.probing > 0 {
		d.eng.TakeArrivals(d.offer)
	}
	for _, w := range d.parked.all {
		if w.ok || w.err != nil {
			continue
		}
		if w.check(d); w.ok || w.err != nil {
			w.wake(d)
		}
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

// wake makes w check whether its wait has ended, whether w polls, sleeps or is parked. The lock is held.
func (w *waiter) wake(d *Endpoint) {
	switch w {
	case d.sleeper:
		d.bell.Ring()
	case d.poller:
	default:
		d.woken.Store(true)
		w.send()
	}
}

func (w *waiter) send() {
	select {
	case w.signal <- struct{}{}:
	default:
	}
}

// handOver makes a goroutine poll: the endpoint's own if several callers wait, and otherwise the one caller that is parked.
func (d *Endpoint) handOver() {
	if d.crowded() {
		d.back.call()
		return
	}
	for _, w := range d.parked.all {
		if !w.ok && w.err == nil {
			w.send()
			return
		}
	}
	if len(d.parked.wakers) > 0 {
		d.parked.wakers[0].w.send()
	}
}

// pollers makes sure that a goroutine polls while any waits.
func (d *Endpoint) pollers() {
	if d.poller == nil && d.blocked != 0 {
		d.handOver()
	}
}

// wakeAll ends all blocking calls (III.3.3).
func (d *Endpoint) wakeAll() {
	d.wakeups++
	d.stir()
}

// stir makes all blocked callers check their waits.
func (d *Endpoint) stir() {
	for _, w := range d.parked.all {
		w.wake(d)
	}
	for _, v := range d.parked.wakers {
		v.w.wake(d)
	}
	if d.sleeper != nil {
		d.bell.Ring()
	}
}
