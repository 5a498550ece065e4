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

// glance is progress with a single port, the one that has delivered a frame last.
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

// digest is the rest of a pass in which n frames have arrived.
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

// advance moves the engine's clock, and runs its timers.
func (d *Endpoint) advance() { d.advanceTo(d.clock()) }

func (d *Endpoint) advanceTo(now time.Duration) {
	timers := d.eng.NextDue() != endpoint.Never
	d.eng.Advance(d.tick(now))
	if timers && d.blocked != 0 {
		d.serve()
	}
}

// When a timer of the engine is seen this late, the process was stopped or had no processor, and what its peers have sent meanwhile
// was not read. That time does not count for the engine, and the timer is due only when there was time to read.
const (
	standstill      = 500 * time.Millisecond
	afterStandstill = 100 * time.Millisecond
)

// tick is the engine's time at a time of the endpoint's clock.
func (d *Endpoint) tick(now time.Duration) endpoint.Tick {
	if due := d.eng.NextDue(); due != endpoint.Never {
		if late := now - d.timeOf(due); late > standstill {
			d.stood += late + afterStandstill
		}
	}
	return endpoint.Tick(max(now-d.stood, 0) / time.Millisecond)
}

// timeOf is when a time of the engine comes, by the endpoint's clock.
func (d *Endpoint) timeOf(due endpoint.Tick) time.Duration {
	return time.Duration(due)*time.Millisecond + d.stood
}

// clock is the time since the endpoint was opened. It takes half as long to read as the time of day.
func (d *Endpoint) clock() time.Duration { return time.Since(d.start) }

// unread stands for a time that was not read.
const unread = time.Duration(-1)

// mayPass reports whether the holder of the lock may make a pass. While a handler runs it may not, because the handler is part of a
// pass.
func (d *Endpoint) mayPass() bool { return !d.handling && !d.closed && !d.eng.Paused() }

// once makes a single pass for a caller that does not wait. Such callers come in loops, so after some passes that find nothing
// it offers the core to others. A handler's panic leaves it without the lock.
func (d *Endpoint) once() {
	if d.blocked != 0 {
		d.meet()
	}
	if d.ready() && d.progress(false) {
		d.dry = 0
		if d.thrown == nil && d.mayPass() {
			d.progress(false) // a transport may leave for it what has come behind a first frame
		}
		d.rethrow()
		return
	}
	if d.dry++; d.dry >= d.pace.polls() {
		d.dry = 0
		d.giveWay(d.clock(), 1)
	}
}

// ready prepares a pass of a caller, and reports whether it may make one.
func (d *Endpoint) ready() bool {
	if d.blocked == 0 && d.poller == &d.back.w && d.mayPass() {
		d.evict() // waking the goroutine at every message would cost more than the pass
	}
	d.disarm()
	if d.heed.Load() != 0 {
		d.checkHeed()
	}
	if !d.mayPass() {
		return false
	}
	d.back.passed()
	d.back.relieve()
	return true
}

// pass is a pass of a caller that waits. Most of them look only at the port that has delivered last.
func (d *Endpoint) pass(own bool) bool {
	if d.turn++; d.turn%portsEvery == 0 {
		return d.progress(own)
	}
	return d.glance(own)
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
	d.back.relieve()
	return true
}

// keptCompany is for how many waits after a call of another goroutine further ones are expected.
const keptCompany = 16

// meet notes that a goroutine calls while another one waits.
func (d *Endpoint) meet() {
	if !d.handling {
		d.company = keptCompany
	}
}

// crowded reports whether several goroutines use the endpoint.
func (d *Endpoint) crowded() bool {
	return d.parked.passive > 0 || !d.single && (d.company > 0 || d.blocked > 1)
}

// evict takes the polling role from the endpoint's own goroutine, which may need a moment to wake up at the doorbell. What spins from
// now on is the caller.
func (d *Endpoint) evict() {
	d.pace.rest()
	d.poller = nil
	d.back.follows.end(false)
	if d.sleeper != nil {
		d.bell.Ring()
	}
	d.bell.Disarm()
}

// poll polls with the polling role until w is satisfied, gives up, or has to park.
func (d *Endpoint) poll(w *waiter) {
	for d.spin(w) && d.spinTogether(w) && d.sleep(w) {
	}
	d.leave(w)
}

// leave gives up the polling role, if w has not been evicted.
func (d *Endpoint) leave(w *waiter) {
	if w.kind == forWake {
		w.waiter.polls.Store(false)
	}
	if d.poller == w {
		d.pace.rest()
		d.poller = nil
	}
	if w.kind != forEver {
		d.back.passed()
	}
	if !d.back.watching {
		d.back.watch()
	}
}

// stays reports whether w goes on polling. It is called when something has arrived, and after the lock was released.
func (d *Endpoint) stays(w *waiter) bool { return !w.over(d) && d.poller == w && d.mayPass() }

// spin is the polling loop of every caller that waits and of the endpoint's own goroutine. It returns false when w does not go on
// polling, and true when nothing has happened for as long as spinning pays. Even under a steady flow of messages it reads
// the clock every few polls, for the deadline and the engine's timers. At each poll it checks whether another goroutine
// wants the lock, and whether a wait was given up. When it reads the clock it also offers the core to others, who may be
// the peers that w waits for. It does so after each poll if the core is shared, and seldom while it serves others on a core that is not.
func (d *Endpoint) spin(w *waiter) (idle bool) {
	budget, since, now := unread, unread, unread // on a shared core now is the time after the last offer
	own, moved, service := w.kind == forEver, false, newService(d.pace.pause)
	most, lent := 1, time.Duration(0)
	if !w.polled {
		most = d.pace.first(!own || d.spinsFor(own))
	}
	w.polled = false // after a sleep it begins with such polls again
	for polls := 0; ; {
		if d.heed.Load() != 0 {
			if w.kind == forInline {
				return true
			}
			d.list(w)
			if d.checkHeed(); !d.stays(w) {
				return false
			}
		}
		if d.pass(own) {
			if budget > 0 {
				d.pace.ended(w.kind, true, now-since-lent)
			}
			if !w.listed {
				w.check(d) // usually w is satisfied, and the other checks are not needed
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
			budget, most = d.pace.begin(d.spinsFor(own), w.kind, now)
		}
		if moved || since == unread {
			since, lent = now, 0
		}
		if !moved && d.pace.spent(now-since, lent, budget) {
			if budget > 0 {
				d.pace.ended(w.kind, false, now-since-lent)
			}
			return true
		}
		busy := service.goesOn(now, moved)
		if moved = false; budget == 0 || busy && !d.pace.shared {
			continue // more may have arrived
		}
		over := d.giveWay(now, 0)
		if !own {
			lent += d.pace.lent(over - now)
		}
		now, service.offered = over, over
		if w.saw(now); !d.stays(w) {
			return false
		}
	}
}

// spinsFor reports whether the caller of spin may spin. The endpoint's own goroutine spins for callers that are parked, but not
// if none waits, or only callers that never poll.
func (d *Endpoint) spinsFor(own bool) bool {
	if own {
		return d.blocked > d.parked.passive
	}
	return !d.crowded()
}

// portsEvery is how many polls look only at the port that has delivered last, for one that looks at all ports.
const portsEvery = 16

// delivery is how many polls a poll counts for that has delivered a frame.
const delivery = 8

// elapse runs the engine's timers and ends w if its deadline has passed.
func (d *Endpoint) elapse(w *waiter, now time.Duration) {
	d.advanceTo(now)
	w.late = w.until != never && now >= w.until
}

// checkHeed does what heed asks for: it reads the clock, and yields the lock if another caller waits for it.
func (d *Endpoint) checkHeed() {
	h := d.heed.Load()
	if h&^wanted != 0 {
		d.heed.And(wanted)
		if h&clockDue != 0 {
			d.startSampling()
			if d.mayPass() {
				d.advance()
			}
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

// These say how often a goroutine that polls in C calls Go's scheduler: after the first time, or after so many times the duration of
// such a call.
const (
	foreignOffers = time.Millisecond
	foreignShare  = 100
)

// giveWay yields the core to other goroutines and processes for a moment, and returns when the caller has it again. The
// caller counts as spins goroutines that spin.
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
// when it has made room; the bound is for peers that fail before that.
const backlogNap = 10 * time.Millisecond

// sleep waits for the doorbell. While a single goroutine uses the endpoint, it sleeps in the kernel. If several wait, none of them
// does, because a thread that was asleep in the kernel is slow to wake another goroutine: they park, and the endpoint's
// own goroutine sleeps in Go's network poller. It returns false if w does not go on polling.
func (d *Endpoint) sleep(w *waiter) bool {
	own := w.kind == forEver
	if d.sleeper != nil || !own && d.crowded() {
		w.parks = true
		return false
	}
	d.list(w)
	d.pace.rest()
	if own {
		d.back.follows.end(true)
	}
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

// quiet reports whether there is nothing to do. It is called after the doorbell was armed, so that whatever arrives later rings.
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
		until = min(until, d.timeOf(due))
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

// rouse waits until the endpoint's own goroutine, whose role was taken away, does not sleep on the doorbell any more. If it has the role,
// because callers wait, it goes on sleeping. It sleeps in Go's network poller, which a processor looks at when it has no goroutine
// to run: with a single one, not while this one is ready.
func (d *Endpoint) rouse() {
	for looks := 0; d.sleeper != nil && d.poller == nil; looks++ {
		d.bell.Ring()
		if looks < rousings {
			d.yield()
		} else {
			d.outside(func() { time.Sleep(20 * time.Microsecond) })
		}
	}
}

// rousings is how often rouse gives way before it leaves the processor.
const rousings = 16

func (d *Endpoint) disarm() {
	if d.armed {
		d.unpoll()
	}
}

// unpoll is what disarm does for an endpoint whose descriptor somebody polls.
func (d *Endpoint) unpoll() {
	d.armed = false
	d.bell.Disarm()
	if !d.back.watching {
		d.back.watch()
	}
}
