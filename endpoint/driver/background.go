package driver

import (
	"sync"
	"sync/atomic"
	"time"
)

// guardEvery is how often an endpoint that is in use is looked at. One that was
// not called for that long gets a goroutine that polls for it.
const guardEvery = 4 * time.Millisecond

// soonIs how long frames that are held back to leave together may wait.
const soonIs = 50 * time.Microsecond

// background polls while no caller does.
type background struct {
	d        *Endpoint
	guard    *time.Timer
	recent   atomic.Bool // somebody has called since the guard looked last
	watching bool        // the guard is set
	pressing atomic.Bool // and set for a single look, soon
	polls    bool        // the goroutine has the polling role
	sleeping bool        // and is inside bell.Sleep
	start    chan struct{}
	done     sync.WaitGroup
}

func (b *background) begin(d *Endpoint) {
	b.d, b.start = d, make(chan struct{}, 1)
	d.guest()
	b.guard = time.AfterFunc(time.Hour, b.look)
	b.watch()
	d.unlock()
	b.done.Add(1)
	go b.run()
}

// watch sets the guard. The lock is held.
func (b *background) watch() {
	if b.guard != nil && !b.d.closed {
		b.watching = true
		b.guard.Reset(guardEvery)
	}
}

// soon has one pass made within a moment, unless a caller makes it before. The
// lock is held.
func (b *background) soon() {
	if b.guard != nil && !b.pressing.Load() && !b.d.closed {
		b.watching = true
		b.pressing.Store(true)
		b.guard.Reset(soonIs)
	}
}

// called notes that somebody has called the endpoint.
func (d *Endpoint) called() {
	if !d.back.recent.Load() { // a store would cost every call
		d.back.recent.Store(true)
	}
}

// look is the guard: it makes the pass that was asked for soon, or starts the goroutine if nobody has called.
// While the program calls it leaves the lock alone.
func (b *background) look() {
	d := b.d
	if !b.pressing.Load() && b.recent.Swap(false) {
		b.guard.Reset(guardEvery)
		if b.pressing.Load() { // since, and that it is soon is lost
			b.guard.Reset(soonIs)
		}
		return
	}
	d.guest()
	defer d.unlock()
	b.watching = false
	if b.pressing.Swap(false) {
		switch {
		case d.closed:
		case d.polling && (d.asleep || b.sleeping):
			d.bell.Ring() // whoever sleeps makes the pass
		case d.mayPoll():
			d.once()
			return
		}
	}
	switch {
	case d.closed || d.polling || d.armed:
		// The poller sets the guard again when it leaves; an armed owner is
		// woken through its own descriptor.
	case b.recent.Swap(false) || d.handling || d.eng.Paused():
		b.watch()
	default:
		b.begins()
	}
}

// begins has the goroutine take the polling role, if nobody has it.
func (b *background) begins() {
	select {
	case b.start <- struct{}{}:
	default:
	}
}

func (b *background) run() {
	defer b.done.Done()
	d := b.d
	for {
		select {
		case <-d.life.Done():
			return
		case <-b.start:
		}
		d.guest()
		if !d.closed && !d.polling && !d.handling && !d.eng.Paused() && !d.armed {
			b.poll()
		}
		d.unlock()
	}
}

// poll has the polling role until a caller takes it away.
func (b *background) poll() {
	d := b.d
	d.polling, b.polls = true, true
	for b.polls {
		for b.polls && d.progress() {
			if d.wanted.Load() != 0 {
				d.yield()
			}
		}
		if b.polls && d.eng.Paused() {
			d.polling, b.polls = false, false
			b.watch()
			return
		}
		if b.polls {
			b.sleep()
		}
	}
}

func (b *background) sleep() {
	d := b.d
	d.bell.Arm(false)
	if d.quiet() {
		if nap, ok := d.napTime(nil); ok {
			b.sleeping, d.due = true, d.eng.NextDue()
			d.outside(func() { d.bell.Sleep(nap) })
			b.sleeping = false
		}
	}
	if b.polls {
		d.bell.Disarm()
		d.advance()
	}
}

// evict takes the polling role away from the background goroutine, and leaves it
// free. The lock is held.
func (d *Endpoint) evict() {
	b := &d.back
	if !b.polls {
		return
	}
	b.polls = false
	for b.sleeping { // only one goroutine may sleep on the bell, so the role stays taken
		d.bell.Ring()
		d.yield()
	}
	d.polling = false
	d.bell.Disarm()
}

func (b *background) stop() {
	if b.guard != nil {
		b.guard.Stop()
		b.done.Wait()
	}
}
