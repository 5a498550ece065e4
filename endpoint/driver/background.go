package driver

import (
	"sync"
	"sync/atomic"
	"time"

	"gomx/internal/labels"
	"gomx/transport"
)

// guardEvery is how often an endpoint that is in use is looked at. One that was
// not called for that long gets a goroutine that polls for it.
const guardEvery = 4 * time.Millisecond

// keptEvery is the same for an endpoint that KeepProgress was called for.
const keptEvery = time.Millisecond

// soonIs how long frames that are buffered to leave together may wait.
const soonIs = 50 * time.Microsecond

// background polls while no caller does, or several do.
type background struct {
	d        *Endpoint
	w        waiter // forEver
	guard    *time.Timer
	recent   atomic.Bool // somebody has made a pass since the guard looked last
	watching bool        // the guard is set
	pressing atomic.Bool // and set for a single look, soon
	keeps    atomic.Bool // KeepProgress was called
	asked    atomic.Bool // KeepProgress was called, and the goroutine has not made a pass since
	start    chan struct{}
	done     sync.WaitGroup
	labels   labels.Labels
}

func (b *background) begin(d *Endpoint, self transport.Address) {
	b.d, b.start = d, make(chan struct{}, 1)
	b.labels = labels.ForEndpoint("progress", self.Endpoint)
	b.w.kind, b.w.until = forEver, never
	d.lockForeign()
	b.guard = time.AfterFunc(time.Hour, b.look)
	b.watch()
	d.unlock()
	b.done.Add(1)
	go b.labels.Func(b.run)()
}

// watch sets the guard. The lock is held.
func (b *background) watch() {
	if b.guard != nil && !b.d.closed {
		b.watching = true
		b.guard.Reset(b.every())
	}
}

// every is how often the guard looks.
func (b *background) every() time.Duration {
	if b.keeps.Load() {
		return keptEvery
	}
	return guardEvery
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

// passed notes that somebody has made a pass. Calls that make none keep nobody's guard away.
func (b *background) passed() {
	if !b.recent.Load() { // a store would cost every call
		b.recent.Store(true)
	}
}

// look is the guard: it makes the pass that was asked for soon, or starts the goroutine if nobody has made one.
// While callers do it leaves the lock alone, and has them read the clock.
func (b *background) look() {
	b.labels.Set()
	d := b.d
	if !b.pressing.Load() && b.recent.Swap(false) {
		d.heed.Or(clockDue)
		b.guard.Reset(b.every())
		if b.pressing.Load() { // since, and that it is soon is lost
			b.guard.Reset(soonIs)
		}
		return
	}
	d.lockForeign()
	b.watching = false
	pass := b.pressing.Swap(false) && d.mayPass()
	switch {
	case d.closed:
	case pass && d.sleeper != nil:
		d.bell.Ring() // whoever sleeps makes the pass
	case pass:
		d.progress(true)
		b.watch()
	case !d.mayPass():
		d.turnAway()
		b.watch()
	case d.poller != nil || d.armed:
		// The poller sets the guard again when it leaves; an armed owner is
		// woken through its own descriptor.
	default:
		b.call()
	}
	d.unlock()
}

// call has the goroutine poll, if it is to have the role.
func (b *background) call() {
	select {
	case b.start <- struct{}{}:
	default:
	}
}

// KeepProgress makes the endpoint's own goroutine make progress from now on until a caller waits. From then on the goroutine
// begins again keptEvery after the last call.
func (d *Endpoint) KeepProgress() {
	b := &d.back
	b.keeps.Store(true)
	b.asked.Store(true)
	b.call()
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
		d.lockForeign()
		b.w.wakeups, b.w.parks, b.w.late = d.wakeups, false, false
		asked := b.asked.Swap(false)
		switch {
		case !asked && d.blocked == 0 && b.recent.Swap(false):
			b.watch() // who waited does no more, or somebody calls again
		case d.takeRole(&b.w):
			d.poll(&b.w)
		case d.poller == nil:
			b.watch()
		}
		d.unlock()
	}
}

func (b *background) stop() {
	if b.guard != nil {
		b.guard.Stop()
		b.done.Wait()
	}
}
