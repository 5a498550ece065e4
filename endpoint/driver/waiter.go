package driver

import (
	"cmp"
	"sync/atomic"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver/internal/goroutine"
)

// Waiter is where one goroutine at a time waits for something that is not a request. Another goroutine, or a handler, ends the
// wait by Wake. The goroutine makes progress while it waits, as every caller does.
type Waiter struct {
	d       *Endpoint
	passive bool
	woken   atomic.Bool    // Wake was called, and no Wait has returned since
	inside  atomic.Uintptr // the goroutine that is in Wait, or 0
	polls   atomic.Bool    // that goroutine has the polling role
	w       waiter         // its entry in the list of waiters; guarded by the endpoint lock, except for its signal
	place   int            // index in the endpoint's list of blocked Waiters
}

// NewWaiter makes a Waiter. Goroutines that wait at a passive Waiter do not poll, and leave that to other callers or to the
// endpoint's own goroutine.
func (d *Endpoint) NewWaiter(passive bool) *Waiter {
	v := &Waiter{d: d, passive: passive}
	v.w.signal, v.w.called = make(chan struct{}, 1), true
	return v
}

// Wait waits for Wake, and returns at once if Wake was called since the last Wait. False without an error means that the
// timeout has passed, or that the endpoint's Wakeup was called.
func (v *Waiter) Wait(timeout time.Duration) (bool, error) {
	if v.take() {
		return true, nil
	}
	v.inside.Store(cmp.Or(goroutine.Current(), nameless)) // stored before woken is read; Wake stores woken before it reads inside
	defer v.inside.Store(0)
	v.d.lock()
	v.d.rethrow()
	switch {
	case v.take():
		v.d.unlock()
		return true, nil
	case v.d.closed:
		v.d.unlock()
		return false, ErrClosed
	}
	var st endpoint.Status
	return v.d.collect(noContext, &want{kind: forWake, waiter: v}, nil, timeout, &st)
}

// take reports whether Wake was called, and clears that.
func (v *Waiter) take() bool { return v.woken.Load() && v.woken.Swap(false) }

// nameless is a goroutine on a processor where they can't be told apart.
const nameless uintptr = 1

// Wake ends the present Wait or, if there is none, the next one. Any goroutine may call it, also in a handler. It takes no
// lock, so that wake-ups do not delay the goroutine that makes progress for all.
func (v *Waiter) Wake() {
	if v.woken.Swap(true) {
		return
	}
	switch in := v.inside.Load(); {
	case in == 0:
	case in == goroutine.Current(): // a handler calls, in a pass of the Wait itself, which looks at woken behind each pass
	case v.polls.Load(): // polls is set before woken is read for the last time, and cleared before it is read by a Wait that parks
		v.d.heed.Or(look)
		v.d.bell.Ring()
	default:
		v.w.send()
		v.d.woken.Store(true)
		if v.polls.Load() { // it has taken the role meanwhile
			v.d.heed.Or(look)
			v.d.bell.Ring()
		}
	}
}

// enter and exit maintain the list of blocked Waiters. serve does not search that list, because Wake wakes each Waiter directly.
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
