package driver

import (
	"runtime"
	"time"

	"gomx/endpoint"
)

// progress does one pass: frames, events, queues. It reports whether anything
// happened. The lock is held, and mayPass has returned true. own: the endpoint's own goroutine makes the pass, so that no caller
// can recover a handler's panic.
func (d *Endpoint) progress(own bool) bool {
	d.own = own
	n := 0
	for _, p := range d.ports {
		if came := p.Poll(d.eng); came != 0 {
			n += came
			d.latest = p
		}
		if d.eng.Paused() {
			break // by a handler
		}
	}
	return d.digest(n)
}

// glance is progress, but of the ports it polls only the one that has delivered last.
func (d *Endpoint) glance(own bool) bool {
	if d.latest == nil {
		return d.progress(own)
	}
	d.own = own
	n := d.latest.Poll(d.eng)
	return n != 0 && (d.alone() || d.digest(n))
}

// alone reports whether the frames of a pass concern the polling caller alone, so that digest is not needed.
func (d *Endpoint) alone() bool {
	return d.blocked == 0 && len(d.handlers) == 0 && !d.inbox.full() && !d.eng.Backlog()
}

// digest is the rest of a pass, in which so many frames have come.
func (d *Endpoint) digest(n int) bool {
	if d.inbox.full() {
		d.takeEvents()
		n++
	}
	flushed := d.eng.Backlog() && !d.eng.Paused()
	if flushed {
		ended := d.eng.Ended()
		d.eng.Flush() // messages to oneself complete here
		n += int(d.eng.Ended() - ended)
	}
	if (n != 0 || flushed) && d.blocked != 0 {
		d.serve()
	}
	if d.unhandled() {
		d.handle()
		n++
	}
	return n != 0 || d.thrown != nil
}

// advance moves the engine's clock.
func (d *Endpoint) advance() {
	d.eng.Advance(d.tick())
	if d.blocked != 0 {
		d.serve()
	}
}

func (d *Endpoint) tick() endpoint.Tick {
	return endpoint.Tick(d.clock() / time.Millisecond)
}

// clock is the time since the endpoint was opened. It takes half as long to read as the time of day.
func (d *Endpoint) clock() time.Duration { return time.Since(d.start) }

// unread is a time that was not asked for.
const unread = time.Duration(-1)

// mayPass reports whether the holder of the lock may make a pass. The handler, which runs without the lock, does so in the middle of one.
func (d *Endpoint) mayPass() bool { return !d.handling && !d.closed && !d.eng.Paused() }

// once makes a single pass for a caller that does not wait. Now and then, if there is nothing to be had, it offers the
// core to others: such callers come in loops. A panic of the handler goes on from here, without the lock.
func (d *Endpoint) once() {
	switch {
	case d.blocked != 0:
		d.meet()
	case d.poller == &d.back.w && d.mayPass():
		d.evict() // to be woken by every message would cost more than the pass
	}
	d.disarm()
	if d.heed.Load() != 0 {
		d.checkHeed()
	}
	if d.mayPass() {
		d.back.passed()
		if d.progress(false) {
			d.dry = 0
			d.rethrow()
			return
		}
	}
	if d.dry++; d.dry >= d.pace.polls() {
		d.dry = 0
		d.giveWay(d.clock(), 1)
	}
}

// takeRole gives w the polling role, which is the right to sleep on the doorbell and the duty to poll, if w should have it.
// A single waiting caller has the role. While there is none, or while several goroutines call, the endpoint's own goroutine has it.
func (d *Endpoint) takeRole(w *waiter) bool {
	switch {
	case !d.mayPass():
		return false
	case w.kind == forEver:
		if d.poller != nil || d.armed {
			return false
		}
		if d.blocked != 0 && !d.crowded() {
			d.handOver()
			return false
		}
	case d.crowded():
		d.company = max(0, d.company-1)
		return false
	case d.poller == &d.back.w:
		d.evict()
	case d.poller != nil:
		return false
	}
	d.poller = w
	if w.kind == forWake {
		w.waiter.polls.Store(true)
	}
	d.disarm()
	return true
}

// keptCompany is how many waits another goroutine's calls are expected for after the last one.
const keptCompany = 16

// meet notes that a goroutine calls while another waits.
func (d *Endpoint) meet() {
	if !d.handling {
		d.company = keptCompany
	}
}

// crowded reports whether several goroutines use the endpoint.
func (d *Endpoint) crowded() bool {
	return d.parked.passive > 0 || !d.single && (d.company > 0 || d.blocked > 1)
}

// evict takes the polling role from the endpoint's own goroutine. It may take a moment to leave the doorbell.
func (d *Endpoint) evict() {
	d.poller = nil
	if d.sleeper != nil {
		d.bell.Ring()
	}
	d.bell.Disarm()
}

// poll has the polling role until w is satisfied, gives up, or is to park.
func (d *Endpoint) poll(w *waiter) {
	for d.spin(w) && d.sleep(w) {
	}
	d.leave(w)
}

// leave gives up the polling role.
func (d *Endpoint) leave(w *waiter) {
	d.pace.rest()
	if w.kind == forWake {
		w.waiter.polls.Store(false)
	}
	if d.poller == w {
		d.poller = nil
	}
	d.back.passed()
	if !d.back.watching {
		d.back.watch()
	}
}

// stays reports whether w goes on polling. It is called whenever something has arrived, and when the lock was released.
func (d *Endpoint) stays(w *waiter) bool { return !w.over(d) && d.poller == w && d.mayPass() }

// spin is the loop in which every caller waits, and the endpoint's own goroutine. It polls until w doesn't stay, which is false, or
// nothing has happened for as long as spinning pays, which is true. However much arrives, it looks at
// the clock every so many polls, for the deadline and the engine's timers; and at each poll it sees who
// wants the lock and whose wait was given up. When it looks at the clock it also offers the core to others, the one
// we wait for among them: after each poll once the core proves to be shared, and seldom while it serves others on a core of its own.
func (d *Endpoint) spin(w *waiter) (idle bool) {
	budget, since, now := unread, unread, unread // on a shared core now is as late as it was after the last offer
	own, moved, service := w.kind == forEver, false, newService()
	for polls, most := 0, d.pace.first(!own || d.spinsFor(own)); ; {
		if d.heed.Load() != 0 {
			if w.kind == forInline {
				return true
			}
			d.list(w)
			if d.checkHeed(); !d.stays(w) {
				return false
			}
		}
		var came bool
		if d.turn++; d.turn%portsEvery == 0 {
			came = d.progress(own)
		} else {
			came = d.glance(own)
		}
		if came {
			if own && budget > 0 {
				d.pace.own.end(true)
			}
			if !w.listed {
				w.check(d) // usually it is what w waits for, and the other checks are not needed
			}
			if w.ok || !d.stays(w) || d.woken.Load() && !d.letRun(w) {
				return false
			}
			polls, moved = polls+delivery, true
		}
		if polls++; polls < most {
			continue
		}
		polls = 0
		if w.kind == forInline && !d.pace.shared {
			return true
		}
		if now == unread || !d.pace.shared || d.pace.keep.on {
			now = d.clock()
		}
		d.list(w)
		w.saw(now)
		if d.elapse(w, now); !d.stays(w) {
			return false
		}
		if budget == unread {
			budget, most = d.pace.begin(d.spinsFor(own), own)
		}
		if moved || since == unread {
			since = now
		}
		if !moved && now-since >= budget {
			if own && budget > 0 {
				d.pace.own.end(false)
			}
			return true
		}
		busy := service.goesOn(now, moved)
		if moved = false; budget == 0 || busy && !d.pace.shared {
			continue // what came may not be all
		}
		now = d.giveWay(now, 0)
		service.offered = now
		if w.saw(now); !d.stays(w) {
			return false
		}
	}
}

// spinsFor reports whether it is for the caller of spin to spin. The endpoint's own goroutine spins for those who park, and
// not for a program that waits for nothing, or only where it asked for sleep.
func (d *Endpoint) spinsFor(own bool) bool {
	if own {
		return d.blocked > d.parked.passive
	}
	return !d.crowded()
}

// portsEvery is how many polls there are between two that look at all ports, and not at the one alone that has delivered last.
const portsEvery = 16

// delivery is how many polls one counts as that has delivered something.
const delivery = 8

// elapse does what is due by the clock: the engine's timers, and the end of a wait.
func (d *Endpoint) elapse(w *waiter, now time.Duration) {
	if d.eng.NextDue() != endpoint.Never {
		d.eng.Advance(endpoint.Tick(now / time.Millisecond))
		if d.blocked != 0 {
			d.serve()
		}
	}
	w.late = w.until != never && now >= w.until
}

// checkHeed does what heed asks for: it reads the clock, and yields the lock if another caller waits for it.
func (d *Endpoint) checkHeed() {
	h := d.heed.Load()
	if h&^wanted != 0 {
		d.heed.And(wanted)
		if h&clockDue != 0 && d.mayPass() && d.eng.NextDue() != endpoint.Never {
			d.advance()
		}
	}
	if h&wanted != 0 {
		d.yield()
	}
}

// letRun lets the goroutines run that a pass of the endpoint's own goroutine has woken, before it polls again or sleeps.
func (d *Endpoint) letRun(w *waiter) bool {
	d.woken.Store(false)
	if w.kind != forEver {
		return true
	}
	d.outside(runtime.Gosched)
	return d.stays(w)
}

// How often a goroutine that polls in C goes through Go's scheduler: in so long, or so many times as long as that takes.
const (
	foreignOffers = time.Millisecond
	foreignShare  = 100
)

// giveWay yields the core to other goroutines and processes for a moment, and returns when the caller has it again. The
// caller counts as so many spinning goroutines.
func (d *Endpoint) giveWay(now time.Duration, spins int32) (over time.Duration) {
	offers := d.pace.offersProcessor(spins) || d.foreign && now >= d.offerAt
	before, keeps := now, d.pace.keep.on
	d.outside(func() {
		if offers {
			runtime.Gosched()
			now = d.clock()
		}
		if !keeps {
			d.bell.Yield()
		}
		over = d.clock()
	})
	if offers {
		d.offerAt = now + max(foreignOffers, foreignShare*(now-before))
	}
	if !keeps {
		d.pace.offered(over - now)
	}
	return over
}

// backlogNap bounds a sleep while frames wait for room in a link. The peer rings
// when it has made room; this is for peers that die before they do.
const backlogNap = 10 * time.Millisecond

// sleep waits for the doorbell, in the kernel by itself while one goroutine alone has a part in the endpoint. Of several that wait none
// sleeps there: a thread that does is slow to wake another goroutine. They park, and the endpoint's own goroutine
// sleeps in Go's network poller. False: w does not go on polling.
func (d *Endpoint) sleep(w *waiter) bool {
	own := w.kind == forEver
	if d.sleeper != nil || !own && d.crowded() {
		w.parks = true
		return false
	}
	d.list(w)
	d.pace.rest()
	d.bell.Arm(own)
	if d.quiet() && d.stays(w) {
		if nap := d.napTime(w); nap != 0 {
			d.sleeper, d.due = w, d.eng.NextDue()
			slept := d.clock()
			d.outside(func() {
				if own {
					d.bell.Pend(nap)
				} else {
					d.bell.Sleep(nap)
				}
				woke := d.clock()
				w.saw(woke)
				slept = woke - slept
			})
			d.sleeper = nil
			d.pace.slept(slept)
		}
	}
	if d.poller == w {
		d.bell.Disarm()
	}
	if !d.stays(w) {
		return false
	}
	now := d.clock()
	w.saw(now)
	d.elapse(w, now)
	return true
}

// quiet reports whether there is nothing to do. It is asked after arming the
// doorbell: what comes later rings.
func (d *Endpoint) quiet() bool {
	if d.inbox.full() {
		return false
	}
	for _, p := range d.ports {
		if !p.Quiet() {
			return false
		}
	}
	if d.eng.Backlog() {
		// If a link got room before the bell was armed, the peer did not ring.
		d.eng.Flush()
		d.serve()
	}
	return !d.unhandled()
}

// napTime returns how long to sleep at most; negative: until the bell rings.
func (d *Endpoint) napTime(w *waiter) time.Duration {
	until := w.until
	if due := d.eng.NextDue(); due != endpoint.Never {
		until = min(until, time.Duration(due)*time.Millisecond)
	}
	if until == never && !d.eng.Backlog() {
		return -1
	}
	now := d.clock()
	if d.eng.Backlog() {
		until = min(until, now+backlogNap)
	}
	return max(until-now, 0)
}

// rouse waits until nobody sleeps on the doorbell. The endpoint's own goroutine alone may, and has lost its role.
func (d *Endpoint) rouse() {
	for d.sleeper != nil {
		d.bell.Ring()
		d.yield()
	}
}

func (d *Endpoint) disarm() {
	if d.armed {
		d.armed = false
		d.bell.Disarm()
	}
}
