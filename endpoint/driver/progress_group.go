package driver

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gomx/internal/labels"
)

// Operations that wait for counters come in patterns: a frame triggers a send, whose answer triggers the next one. The own goroutine
// of an endpoint that sleeps between two frames is woken for each of them. Where several endpoints of a process take part, their
// goroutines wake each other, and would spin against each other. So those that are awake form a group: one goroutine spins for all of
// them, while their own goroutines wait. An endpoint leaves its group when nothing has come for as long as spinning pays, and its own
// goroutine sleeps on the doorbell.

// mostInGroup bounds a group, so that several goroutines poll where there are many endpoints, and processors for them.
const mostInGroup = 16

// longUnscheduled is how long a group polls at most without a call of Go's scheduler; see transport.Foreign.
const longUnscheduled = time.Millisecond

// progressGroup is a group of endpoints for which one goroutine polls. Only that goroutine uses the fields, except for the last ones.
type progressGroup struct {
	members   []*Endpoint
	dissolved bool // all members but one are about to leave, because a handler runs that may take long
	pace      pace
	start     time.Time
	scheduled time.Duration // when Go's scheduler was called last
	woke      bool          // a pass has woken a goroutine

	news atomic.Bool // entered is not empty
	// Guarded by groups.mu:
	entered []*Endpoint // members that the goroutine has not seen yet
	size    int         // how many members there are, with those
}

// groupMember is what an endpoint keeps as a member of a group.
type groupMember struct {
	left   chan struct{} // holds one token: the endpoint is no longer a member
	since  time.Duration // when a frame came last or, before the first one, when the endpoint entered; by the group's clock
	budget time.Duration // how long after that the endpoint leaves
}

// groups are the groups of this process.
var groups struct {
	mu    sync.Mutex
	open  *progressGroup   // takes further members; nil if there is none
	spare []*progressGroup // have no goroutine
}

var groupLabels = labels.For("progress of several endpoints")

// spinTogether spins in a group until nothing has come for as long as spinning pays. It is for the endpoint's own goroutine while
// operations wait for counters; for others it does nothing. It returns false if w does not go on polling.
func (d *Endpoint) spinTogether(w *waiter) bool {
	if w.kind != forEver || !d.eng.Holds() || d.pace.most == 0 || d.spinsFor(true) || !d.pace.own.begin() || !d.enterGroup() {
		return true
	}
	d.endpointLock.foreign.Add(1) // see tryMember
	d.outside(func() { <-d.back.member.left })
	d.endpointLock.foreign.Add(-1)
	return d.stays(w)
}

// tryMember takes the lock of a member of a group, if nobody has it. In single-threaded mode no caller has it without the mutex,
// because the endpoint's own goroutine counts as a foreign caller for as long as the endpoint is a member.
func (l *endpointLock) tryMember() bool {
	if !l.mu.TryLock() {
		return false
	}
	l.foreign.Add(1)
	l.held = asForeign
	return true
}

// enterGroup makes the endpoint a member of the open group, or of a new one. It returns false if a new one would be needed, and as
// many goroutines spin as there are processors.
func (d *Endpoint) enterGroup() bool {
	groups.mu.Lock()
	defer groups.mu.Unlock()
	g := groups.open
	if g == nil || g.size == mostInGroup {
		if g = newGroup(); g == nil {
			return false
		}
		groups.open = g
		go g.run()
	}
	d.back.member.since, d.back.member.budget = unread, d.pace.budget
	g.entered = append(g.entered, d)
	g.size++
	g.news.Store(true)
	return true
}

// newGroup returns a group without members, or nil if it may not spin. groups.mu is held.
func newGroup() *progressGroup {
	var g *progressGroup
	if last := len(groups.spare) - 1; last >= 0 {
		g, groups.spare = groups.spare[last], groups.spare[:last]
	} else {
		g = &progressGroup{pace: pace{price: offers.price, most: DefaultSpin, budget: DefaultSpin, procs: int32(runtime.GOMAXPROCS(0))}, start: time.Now()}
	}
	if budget, _ := g.pace.begin(true, forEver, 0); budget == 0 {
		groups.spare = append(groups.spare, g)
		return nil
	}
	return g
}

// run polls for the members until there are none.
func (g *progressGroup) run() {
	groupLabels.Set()
	service, now, moved := newService(g.pace.pause), unread, false
	for polls := spinsPerLook; g.goesOn(); polls++ {
		looks := polls >= g.pace.polls()
		if looks {
			polls, now = 0, g.clock()
		}
		if g.round(looks, now) {
			moved = true
		}
		if g.woke {
			g.woke = false
			runtime.Gosched() // see letRun
		}
		if looks {
			if !service.goesOn(now, moved) || g.pace.shared {
				service.offered = g.offer(now)
			}
			moved = false
		}
	}
}

// goesOn takes what has entered, and reports whether the group has a member. If it has none, it is no group any more.
func (g *progressGroup) goesOn() bool {
	if len(g.members) != 0 && !g.news.Load() {
		return true
	}
	groups.mu.Lock()
	defer groups.mu.Unlock()
	g.news.Store(false)
	g.members = append(g.members, g.entered...)
	clear(g.entered)
	g.entered = g.entered[:0]
	if len(g.members) != 0 {
		return true
	}
	g.pace.rest()
	g.dissolved = false
	g.close()
	groups.spare = append(groups.spare, g)
	return false
}

// close makes the group take no further members. groups.mu is held.
func (g *progressGroup) close() {
	if groups.open == g {
		groups.open = nil
	}
}

// clock is a time that only the group uses.
func (g *progressGroup) clock() time.Duration { return time.Since(g.start) }

// round makes one pass for each member, and reports whether something has come for one.
func (g *progressGroup) round(looks bool, now time.Duration) (moved bool) {
	for i := 0; i < len(g.members); {
		d := g.members[i]
		stays, came := g.visit(d, looks, now)
		moved = moved || came
		if stays {
			i++
		} else {
			g.remove(d)
		}
	}
	return moved
}

func (g *progressGroup) remove(d *Endpoint) {
	at := slices.Index(g.members, d)
	g.members = slices.Delete(g.members, at, at+1)
	groups.mu.Lock()
	g.size--
	groups.mu.Unlock()
}

// visit makes a pass for a member, unless another goroutine calls the endpoint just now. It returns whether the endpoint remains a
// member, and whether something has come. looks: the clock has just been read.
func (g *progressGroup) visit(d *Endpoint, looks bool, now time.Duration) (stays, came bool) {
	if !d.tryMember() {
		return true, false
	}
	w, m := &d.back.w, &d.back.member
	if stays = d.stays(w); stays {
		d.back.pass = g
		if d.turn++; looks || d.turn%portsEvery == 0 {
			came = d.progress(true)
		} else {
			came = d.glance(true)
		}
		d.back.pass = nil
		if looks {
			d.elapse(w, d.clock())
		}
		stays = !g.dissolved && d.stays(w)
	}
	switch {
	case came || m.since == unread:
		m.since = now
		if came {
			d.pace.own.end(true)
		}
	case looks && now-m.since >= m.budget && stays:
		d.pace.own.end(false)
		stays = false
	}
	if !stays {
		m.left <- struct{}{}
	}
	if d.woken.Load() {
		d.woken.Store(false)
		g.woke = true
	}
	d.unlock()
	return stays, came
}

// offer yields the core to other goroutines and processes for a moment, and returns when the group has it again.
func (g *progressGroup) offer(now time.Duration) time.Duration {
	if g.pace.offersProcessor(0) || now-g.scheduled >= longUnscheduled {
		runtime.Gosched()
		now = g.clock()
		g.scheduled = now
	}
	if len(g.members) == 0 {
		return now
	}
	g.members[0].bell.Yield()
	over := g.clock()
	g.pace.offered(over - now)
	g.pace.keep = keeping{} // a group keeps no core from others
	return over
}

// leaveOthers ends the membership of all but d, whose handler is about to run, perhaps for long: their own goroutines poll for them
// again. The caller is the group's goroutine, and holds no lock. A nil group has no members.
func (g *progressGroup) leaveOthers(d *Endpoint) {
	if g == nil {
		return
	}
	groups.mu.Lock()
	g.close()
	others := append(g.members, g.entered...)
	g.entered = g.entered[:0]
	g.news.Store(false)
	g.size = 1
	groups.mu.Unlock()
	g.dissolved = true
	g.members = []*Endpoint{d}
	g.pace.rest()
	for _, o := range others {
		if o != d {
			o.lockForeign()
			o.back.member.left <- struct{}{}
			o.unlock()
		}
	}
}
