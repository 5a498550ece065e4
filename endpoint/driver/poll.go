package driver

import (
	"runtime"
	"time"

	"gomx/endpoint"
)

// progress does one pass: frames, events, queues. It reports whether anything
// happened. The lock is held.
func (d *Endpoint) progress() bool { return d.follow(d.pollPorts()) }

// follow does what is left of a pass in which the ports have delivered n frames.
func (d *Endpoint) follow(n int) bool {
	if d.inbox.full() {
		d.takeEvents()
		n++
	}
	flushed := d.eng.Backlog()
	if flushed {
		d.eng.Flush() // messages to oneself complete here
	}
	if (n != 0 || flushed) && d.blocked != 0 {
		d.serve()
	}
	if d.unhandled() {
		d.handle()
		n++
	}
	return n != 0
}

func (d *Endpoint) pollPorts() int {
	n := 0
	for i, p := range d.ports {
		if d.eng.Paused() {
			break
		}
		if k := p.Poll(d.eng); k > 0 {
			n += k
			d.lively = i
		}
	}
	return n
}

// advance tells the engine what time it is.
func (d *Endpoint) advance() {
	d.eng.Advance(d.tick())
	if d.blocked != 0 {
		d.serve()
	}
}

func (d *Endpoint) tick() endpoint.Tick {
	return endpoint.Tick(d.clock() / time.Millisecond)
}

// mayPoll reports whether the caller can have the polling role.
func (d *Endpoint) mayPoll() bool {
	if d.polling && d.back.polls {
		d.evict()
	}
	return !d.polling && !d.handling && !d.eng.Paused()
}

// once makes a single pass for a caller that does not wait.
func (d *Endpoint) once() {
	d.called()
	if d.mayPoll() {
		d.polling = true
		d.disarm()
		d.progress()
		if d.eng.NextDue() != endpoint.Never {
			d.advance()
		}
		d.leave()
	}
}

// poll has the polling role until w is satisfied or gives up. The lock is held,
// but for moments.
func (d *Endpoint) poll(w *waiter) {
	d.polling = true
	d.disarm()
	for {
		budget := d.pace.begin()
		if budget > 0 {
			d.spin(w, budget)
			leaveSpin()
		} else {
			d.progress()
		}
		if w.over(d) || w.expired() {
			break
		}
		d.sleep(w)
		if w.over(d) || w.expired() {
			break
		}
	}
	d.leave()
}

// spin polls until w is over or nothing has happened for the budget. Now and then, and
// after each poll once the core proves to be shared, it offers the core to others: the
// one we wait for may be among them.
func (d *Endpoint) spin(w *waiter, budget time.Duration) {
	since, now := unread, unread // on a shared core it is as late as it was after the last offer
	for polls := 0; ; {
		if d.progress() {
			polls, since, now = 0, unread, unread
		}
		if w.over(d) {
			return
		}
		if d.wanted.Load() != 0 {
			d.yield()
		}
		if d.eng.Paused() {
			return
		}
		if polls++; polls < d.pace.polls() {
			continue
		}
		polls = 0
		if now == unread || !d.pace.shared {
			now = d.clock()
		}
		if since == unread {
			since = now
		}
		if d.eng.NextDue() != endpoint.Never {
			d.advance()
		}
		if now-since > budget || w.late(d.start.Add(now)) {
			return
		}
		now = d.giveWay(now)
	}
}

// giveWay lets other goroutines and other processes have the core for a moment, and returns when that was over.
func (d *Endpoint) giveWay(now time.Duration) (over time.Duration) {
	d.outside(func() {
		if d.pace.offersProcessor() {
			runtime.Gosched()
			now = d.clock()
		}
		d.bell.Yield()
		over = d.clock()
	})
	d.pace.offered(over - now)
	return over
}

// clock is the time since the endpoint was opened. It takes half as long to read as the time of day.
func (d *Endpoint) clock() time.Duration { return time.Since(d.start) }

// unread is a time that was not asked for.
const unread = time.Duration(-1)

// backlogNap bounds a sleep while frames wait for room in a link. The peer rings
// when it has made room; this is for peers that die before they do.
const backlogNap = 10 * time.Millisecond

// sleep waits for the doorbell. It returns when something may have happened.
func (d *Endpoint) sleep(w *waiter) {
	d.bell.Arm(false)
	if d.quiet() {
		nap, ok := d.napTime(w)
		if ok {
			d.asleep, d.due = true, d.eng.NextDue()
			var slept time.Duration
			d.outside(func() {
				began := d.clock()
				d.bell.Sleep(nap)
				slept = d.clock() - began
			})
			d.asleep = false
			d.pace.slept(slept)
		}
	}
	d.bell.Disarm()
	if d.polling && !d.closed {
		d.advance()
	}
}

// quiet reports whether there is nothing to do. It is asked after arming the
// doorbell: what comes later rings.
func (d *Endpoint) quiet() bool {
	if d.inbox.full() || d.unhandled() {
		return false
	}
	for _, p := range d.ports {
		if !d.eng.Paused() && !p.Quiet() {
			return false
		}
	}
	if d.eng.Backlog() {
		// Room made before the bell was armed went unrung.
		d.eng.Flush()
		d.serve()
	}
	return true
}

// napTime returns how long to sleep at most (negative: until the bell rings),
// and false if there is no time to sleep at all.
func (d *Endpoint) napTime(w *waiter) (time.Duration, bool) {
	nap := time.Duration(-1)
	shorten := func(to time.Duration) {
		if nap < 0 || to < nap {
			nap = max(to, 0)
		}
	}
	if w != nil {
		if w.over(d) || w.ctx != nil && w.ctx.Err() != nil {
			return 0, false
		}
		if !w.deadline.IsZero() {
			shorten(time.Until(w.deadline))
		}
	}
	if due := d.eng.NextDue(); due != endpoint.Never {
		shorten(time.Until(d.start.Add(time.Duration(due) * time.Millisecond)))
	}
	if d.eng.Backlog() {
		shorten(backlogNap)
	}
	return nap, nap != 0
}

// leave gives the polling role up, to somebody who is parked if there is one.
func (d *Endpoint) leave() {
	d.polling = false
	if d.blocked != 0 {
		d.handOver()
	}
	if !d.back.watching {
		d.back.watch()
	}
}

func (d *Endpoint) disarm() {
	if d.armed {
		d.armed = false
		d.bell.Disarm()
	}
}
