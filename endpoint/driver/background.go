package driver

import (
	"sync"
	"sync/atomic"
	"time"

	"gomx/endpoint"
	"gomx/internal/labels"
	"gomx/transport"
)

// guardEvery is how often the guard looks at an endpoint that is in use. If no call has polled the endpoint for that long,
// the endpoint's own goroutine polls.
const guardEvery = 4 * time.Millisecond

// armedEvery is how often the guard looks at an endpoint that is armed. Its program is expected as soon as something comes.
const armedEvery = 100 * time.Millisecond

// keptEvery is how often the guard looks at an endpoint for which KeepProgress was called.
const keptEvery = time.Millisecond

// background is the endpoint's own goroutine, which polls while no caller waits or while several do, and the guard that starts it.
type background struct {
	d        *Endpoint
	w        waiter // forEver
	guard    *time.Timer
	recent   atomic.Bool // a pass was made since the guard's last look
	watching bool        // the guard is set
	pressing atomic.Bool // frames wait to leave together, and no pass was made since
	keeps    atomic.Bool // KeepProgress was called
	asked    atomic.Bool // KeepProgress was called, and the goroutine has not made a pass since
	follows  following
	start    chan struct{}
	done     sync.WaitGroup
	member   groupMember
	pass     *progressGroup // the group whose goroutine makes the present pass; nil if another goroutine makes it
	labels   labels.Labels
	presses  func() // press, made once
}

func (b *background) begin(d *Endpoint, self transport.Address) {
	b.d, b.start = d, make(chan struct{}, 1)
	b.member.left = make(chan struct{}, 1)
	b.labels = labels.ForEndpoint("progress", self.Endpoint)
	b.w.kind, b.w.until, b.presses = forEver, never, b.press
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

// soon makes sure that a pass is made soon, by a caller or by press. The lock is held.
func (b *background) soon() {
	if b.guard != nil && !b.pressing.Load() && !b.d.closed {
		b.pressing.Store(true)
		b.d.bell.Soon(b.presses)
	}
}

// relieve notes that a pass is made.
func (b *background) relieve() {
	if b.pressing.Load() { // a store would cost every call
		b.pressing.Store(false)
	}
}

// press makes the pass that soon has requested, unless a caller has made it.
func (b *background) press() {
	if !b.pressing.Swap(false) {
		return
	}
	b.labels.Set()
	d := b.d
	d.lockForeign()
	switch {
	case d.closed || !d.mayPass():
	case d.sleeper != nil && d.sleeper != &b.w:
		d.bell.Ring() // the caller that sleeps makes the pass
	case d.sleeper == nil:
		d.overdue()
		d.progress(true)
		b.watch()
	default:
		d.overdue()
		if d.progress(true); d.eng.NextDue() < d.due || !d.quiet() {
			d.bell.Ring() // otherwise the endpoint's own goroutine sleeps on
		}
	}
	d.unlock()
}

// overdue tells the ports that no caller has made the pass which they may have asked for.
func (d *Endpoint) overdue() {
	for _, p := range d.ports {
		if h, holds := p.(transport.Holder); holds {
			h.Overdue()
		}
	}
}

// passed notes that a pass was made. A call that makes no pass does not delay the guard. The lock is held.
func (b *background) passed() {
	if !b.recent.Load() { // a store would cost every call
		b.revive()
	}
}

// revive notes the first pass since the guard has looked.
func (b *background) revive() {
	b.recent.Store(true)
	b.d.eng.SetIdle(false)
}

// look is the guard. It starts the endpoint's own goroutine if no pass was made. If callers make passes it does not take the lock, and
// only makes them read the clock.
func (b *background) look() {
	b.labels.Set()
	d := b.d
	if b.recent.Swap(false) {
		d.heed.Or(clockDue)
		b.guard.Reset(b.every())
		return
	}
	d.lockForeign()
	b.watching = false
	d.startSampling()
	d.eng.SetIdle(true)
	switch {
	case d.closed:
	case !d.mayPass():
		d.turnAway()
		b.watch()
	case d.poller != nil: // which sets the guard again when it gives the role up
	case d.armed: // the call that disarms it sets the guard again
		b.standIn()
	default:
		b.call()
	}
	d.unlock()
}

// standIn makes a pass for the program of an endpoint that is armed if a timer of the engine is due, or if something has come for which the
// program has not: it may be busy with other things, and its peers would wait. The program is woken, since there may be something to collect.
// The lock is held.
func (b *background) standIn() {
	d, next := b.d, armedEvery
	if due := d.eng.NextDue(); due != endpoint.Never {
		next = min(next, d.timeOf(due)-d.clock())
	}
	if next <= 0 || !d.quiet() {
		d.heed.Or(clockDue)
		d.overdue()
		d.progress(true)
		d.bell.Ring()
		next = b.every()
	}
	b.guard.Reset(next)
}

// call makes the endpoint's own goroutine poll, if the polling role is free for it.
func (b *background) call() {
	select {
	case b.start <- struct{}{}:
	default:
	}
}

// KeepProgress makes the endpoint's own goroutine poll from now on until a caller waits. After that, the goroutine polls again as soon
// as no call has made a pass for about keptEvery.
func (d *Endpoint) KeepProgress() {
	b := &d.back
	b.keeps.Store(true)
	b.asked.Store(true)
	b.call()
}

// mostUncarried bounds the number of triggered operations after which carryOn calls the goroutine again.
const mostUncarried = 4096

// following decides whether the goroutine polls after calls that trigger operations. A program that waits after such a call makes the
// passes itself, and the goroutine would only disturb it.
type following struct {
	called bool // the goroutine was called for a triggered operation, and has not slept since
	rests  int  // number of coming operations for which it is not called
	series int  // value of rests after the last call in vain
}

// carryOn makes the goroutine poll after a call that has triggered an operation, unless the program makes a pass earlier. The lock is
// held.
func (b *background) carryOn() {
	switch f := &b.follows; {
	case f.called:
		b.recent.Store(false) // the pass of the call that has triggered the operation does not count
	case f.rests > 0:
		f.rests--
	default:
		f.called = true
		b.recent.Store(false)
		b.call()
	}
}

// end notes the result of carryOn. polled: the goroutine has polled until nothing came any more; otherwise a caller has made a pass
// earlier.
func (f *following) end(polled bool) {
	if !f.called {
		return
	}
	f.called = false
	if polled {
		f.series = 0
	} else {
		f.series = min(2*f.series+1, mostUncarried)
		f.rests = f.series
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
		d.lockForeign()
		b.w.wakeups, b.w.parks, b.w.late = d.wakeups, false, false
		asked := b.asked.Swap(false)
		switch {
		case !asked && d.blocked == 0 && b.recent.Swap(false):
			b.follows.end(false)
			b.watch() // the caller that waited has returned, or another call has come
		case d.takeRole(&b.w):
			d.overdue()
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
