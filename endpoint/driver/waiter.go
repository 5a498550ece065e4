package driver

import (
	"sync/atomic"
	"time"

	"gomx/endpoint"
)

// Waiter is where one goroutine at a time waits for something that is not a request, and that another goroutine or a
// handler tells it of by Wake. Like every caller that waits it makes progress meanwhile.
type Waiter struct {
	d       *Endpoint
	passive bool
	woken   atomic.Bool // Wake was called, and no Wait has returned since
	inside  atomic.Bool // a goroutine is in Wait
	polls   atomic.Bool // and has the polling role
	w       waiter      // its place among those that wait; guarded by the endpoint lock, but for its signal
	place   int         // among those of the endpoint that are blocked
}

// NewWaiter makes a Waiter. At a passive one goroutines don't poll: others, or the endpoint's own goroutine, do.
func (d *Endpoint) NewWaiter(passive bool) *Waiter {
	v := &Waiter{d: d, passive: passive}
	v.w.signal, v.w.called = make(chan struct{}, 1), true
	return v
}

// Wait waits for Wake; one that came before counts. False without an error: the timeout passed, or Wakeup of the
// endpoint was called.
func (v *Waiter) Wait(timeout time.Duration) (bool, error) {
	if v.take() {
		return true, nil
	}
	var st endpoint.Status
	v.inside.Store(true) // before the next look at woken: Wake looks the other way round
	ok, err := v.d.collect(noContext, &want{kind: forWake, waiter: v}, timeout, &st)
	v.inside.Store(false)
	return ok, err
}

// take reports whether Wake was called, and forgets it.
func (v *Waiter) take() bool { return v.woken.Load() && v.woken.Swap(false) }

// Wake ends the Wait of the moment, or else the next one. Any goroutine may call it, also inside a handler. It takes no
// lock: many wake, and many are woken, beside the one who makes progress for all.
func (v *Waiter) Wake() {
	if v.woken.Swap(true) || !v.inside.Load() {
		return
	}
	v.w.send()
	v.d.woken.Store(true)
	if v.polls.Load() { // set before it looks at woken for the last time
		v.d.heed.Or(look)
		v.d.bell.Ring()
	}
}

// enter and exit keep the list of those that are blocked. serve need not look at them, however many they are, for
// each is woken by itself.
func (v *Waiter) enter() {
	p := &v.d.parked
	v.place = len(p.wakers)
	p.wakers = append(p.wakers, v)
}

func (v *Waiter) exit() {
	p := &v.d.parked
	last := len(p.wakers) - 1
	p.wakers[v.place] = p.wakers[last]
	p.wakers[v.place].place = v.place
	p.wakers[last] = nil
	p.wakers = p.wakers[:last]
}
