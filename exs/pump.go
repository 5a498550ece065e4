package exs

import (
	"sync"
	"sync/atomic"
	"time"

	"gomx/mx"
)

// condition is what a goroutine waits for.
type condition interface {
	ready() bool
	at() *room // who is woken when it may have become ready
}

// room is where goroutines wait for one thing.
type room struct {
	n      atomic.Int32
	parked []*parker // under pump.mu
}

// parker is a goroutine that waits while another one pumps.
type parker struct {
	signal chan struct{}
	room   *room

	older, newer *parker // those that came before and after
}

// pump collects what completes on the endpoint. One goroutine at a time has that
// role, of those that wait for anything; the others are parked.
type pump struct {
	in     atomic.Pointer[room] // what the goroutine that has the role waits for; nil: nobody has it
	kicked atomic.Bool          // a kick is under way
	missed atomic.Bool          // something has completed, and attend found somebody at work
	over   atomic.Bool          // the library is closed

	// Of whoever has the role.
	st     mx.Status
	queue  *Queue  // that it takes from
	events []Event // where its events go, those that are left
	op     *op     // the blocking operation that it waits for
	ended  outcome // how that ended
	got    bool    // something has gone to events, or to ended

	mu     sync.Mutex
	oldest *parker // of those that are parked
	newest *parker
	count  atomic.Int32
	spare  []*parker
	looker sync.Once // the watcher has been started
}

// wait waits until c is ready or the timeout has passed, and makes progress
// meanwhile, for all. It reports whether c is ready.
func (l *Library) wait(c condition, timeout time.Duration) bool {
	return c.ready() || l.waitOn(c, timeout, true)
}

func (l *Library) waitOn(c condition, timeout time.Duration, pumps bool) bool {
	var deadline time.Time
	if timeout > 0 && timeout != Infinite {
		deadline = time.Now().Add(timeout)
	}
	for !l.pump.over.Load() {
		if pumps && l.pump.in.CompareAndSwap(nil, c.at()) {
			ready := l.run(c, timeout, deadline)
			l.leave()
			return ready
		}
		if timeout <= 0 || !l.pump.park(c, deadline, pumps) {
			break
		}
		if c.ready() {
			return true
		}
	}
	return c.ready()
}

// run pumps until c is ready or the time is over.
func (l *Library) run(c condition, timeout time.Duration, deadline time.Time) bool {
	ep := l.ep.Load()
	for !l.pump.got && !c.ready() {
		if ep == nil {
			return false
		}
		st, done, err := ep.WaitAny(timeout, ours, ours)
		if done {
			l.dispatch(&st)
		}
		switch {
		case err != nil:
			return c.ready()
		case done && deadline.IsZero():
		case !done && (timeout <= 0 || !deadline.IsZero() && !time.Now().Before(deadline)):
			return c.ready()
		case !deadline.IsZero():
			timeout = max(0, time.Until(deadline))
		}
	}
	return true
}

// completer is what requests are posted with, besides operations.
type completer interface{ completed(st *mx.Status) }

// dispatch takes what completed on the endpoint.
func (l *Library) dispatch(st *mx.Status) {
	switch c := st.Context.(type) {
	case *op:
		c.s.completed(c, st)
	case completer:
		l.pump.st = *st
		c.completed(&l.pump.st)
	}
}

// direct gives an event to the goroutine that pumps, if it is what that waits for.
// Nothing of the queue's may be before it.
func (p *pump) direct(o *op) bool {
	if p.queue != o.q || len(p.events) == 0 || o.q.count.Load() > 0 {
		return false
	}
	o.report(&p.events[0])
	p.events, p.got = p.events[1:], true
	return true
}

// outcome is how a blocking operation ended.
type outcome struct {
	length int
	extra  *extra
	errno  Errno
}

// waitFor waits until c is ready, which it is when a blocking operation has ended. True:
// the operation ended while this goroutine pumped, it is a spare one again, and end says
// how. Otherwise its end is to be collected from it.
func (l *Library) waitFor(c condition, o *op) (end outcome, taken bool) {
	p := &l.pump
	if c.ready() || p.over.Load() {
		return end, false
	}
	if !p.in.CompareAndSwap(nil, c.at()) {
		l.waitOn(c, Infinite, true)
		return end, false
	}
	p.op = o
	if o.spins {
		for !p.got && !c.ready() && !p.over.Load() {
			l.run(c, 0, time.Time{})
		}
	} else {
		l.run(c, Infinite, time.Time{})
	}
	if p.op = nil; p.got {
		end, taken = p.ended, true
		p.ended.extra = nil
	}
	l.leave()
	return end, taken
}

// takes gives the end of a blocking operation to the goroutine that pumps, if that waits
// for it.
func (p *pump) takes(o *op) bool {
	if p.op != o {
		return false
	}
	p.op = nil
	p.ended.length, p.ended.errno = o.length, o.errno
	if o.extra != nil {
		p.ended.extra = o.extra
	}
	p.got = true
	return true
}

// leave gives the role up, to a goroutine that is parked if there is one.
func (l *Library) leave() {
	p := &l.pump
	p.got = false
	p.in.Store(nil)
	if p.count.Load() > 0 {
		p.offer()
	}
	if p.missed.Load() {
		go l.attend()
	}
}

// attend collects what has completed while the program does something else, so that the peers can go on. The
// endpoint calls it.
func (l *Library) attend() {
	p := &l.pump
	w := new(watcher)
	p.missed.Store(true) // before the look at the role: whoever leaves it looks at this after
	if p.over.Load() || !p.in.CompareAndSwap(nil, w.at()) {
		return
	}
	p.missed.Store(false)
	l.run(w, 0, time.Time{})
	l.leave()
}

func (p *pump) offer() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.oldest != nil {
		p.oldest.wake()
	}
}

func (k *parker) wake() {
	select {
	case k.signal <- struct{}{}:
	default:
	}
}

// park waits to be woken. False: the time is over.
func (p *pump) park(c condition, deadline time.Time, pumps bool) bool {
	k := p.enter(c.at())
	woken := true
	if !c.ready() && !p.over.Load() && (!pumps || p.in.Load() != nil) {
		woken = k.sleep(deadline)
	}
	p.exit(k)
	if (!woken || c.ready() || !pumps) && p.in.Load() == nil && p.count.Load() > 0 {
		p.offer() // the role may have been offered to us alone
	}
	return woken
}

func (k *parker) sleep(deadline time.Time) bool {
	if deadline.IsZero() {
		<-k.signal
		return true
	}
	t := time.NewTimer(time.Until(deadline))
	defer t.Stop()
	select {
	case <-k.signal:
		return true
	case <-t.C:
		return false
	}
}

func (p *pump) enter(r *room) *parker {
	p.mu.Lock()
	defer p.mu.Unlock()
	var k *parker
	if n := len(p.spare); n > 0 {
		k, p.spare = p.spare[n-1], p.spare[:n-1]
	} else {
		k = &parker{signal: make(chan struct{}, 1)}
	}
	k.room = r
	r.parked = append(r.parked, k)
	r.n.Add(1)
	k.older, p.newest = p.newest, k
	if k.older == nil {
		p.oldest = k
	} else {
		k.older.newer = k
	}
	p.count.Add(1)
	return k
}

func (p *pump) exit(k *parker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k.room.parked = without(k.room.parked, k)
	k.room.n.Add(-1)
	p.unlink(k)
	p.count.Add(-1)
	select {
	case <-k.signal:
	default:
	}
	k.room = nil
	p.spare = append(p.spare, k)
}

// unlink takes a goroutine out of the list, which may be long.
func (p *pump) unlink(k *parker) {
	if k.older == nil {
		p.oldest = k.newer
	} else {
		k.older.newer = k.newer
	}
	if k.newer == nil {
		p.newest = k.older
	} else {
		k.newer.older = k.older
	}
	k.older, k.newer = nil, nil
}

func without(list []*parker, k *parker) []*parker {
	for i := range list {
		if list[i] == k {
			last := len(list) - 1
			copy(list[i:], list[i+1:])
			list[last] = nil
			return list[:last]
		}
	}
	return list
}

// wake wakes those who wait for a thing. pumping says that the caller has the role,
// and will look by itself.
func (l *Library) wake(r *room, pumping bool) {
	p := &l.pump
	if r.n.Load() > 0 {
		p.mu.Lock()
		for _, k := range r.parked {
			k.wake()
		}
		p.mu.Unlock()
	}
	if !pumping && p.in.Load() == r {
		l.kick()
	}
}

// kick makes the goroutine that pumps look around. What it finds complete stays until
// it does, so that no kick comes too early to be noticed.
func (l *Library) kick() {
	ep := l.ep.Load()
	if ep == nil || !l.pump.kicked.CompareAndSwap(false, true) {
		return
	}
	if _, err := ep.Post(ours, &l.pump); err != nil {
		l.pump.kicked.Store(false)
	}
}

// completed takes the kick.
func (p *pump) completed(*mx.Status) { p.kicked.Store(false) }

// watch starts a goroutine that pumps when nobody else does, for queues that tell by
// a signal that they have something.
func (l *Library) watch() {
	l.pump.looker.Do(func() {
		go func() {
			for w := new(watcher); !l.pump.over.Load(); {
				l.wait(w, Infinite)
			}
		}()
	})
}

// watcher waits for nothing.
type watcher struct{ room room }

func (w *watcher) ready() bool { return false }
func (w *watcher) at() *room   { return &w.room }

// end wakes everybody for good.
func (p *pump) end() {
	p.over.Store(true)
	p.mu.Lock()
	defer p.mu.Unlock()
	for k := p.oldest; k != nil; k = k.newer {
		k.wake()
	}
}
