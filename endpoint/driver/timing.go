package driver

import (
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"gomx/endpoint"
)

// The time in calls is counted by class. That of a wait which proves long is measured in any case, because such a wait reads the clock. Of
// other calls one in timedOneIn is timed, chosen at random, and counts for all of them: two readings of the clock at each call would
// cost a large part of what a small message takes. Calls that are known to move much are few and differ, and all of them are timed. The
// time for which a call waits for the lock is left out.

const (
	timedOneIn  = 128
	timedLength = 32 << 10 // each call that is known to be for a message of so many bytes is timed

	// A chosen call that takes longer than mostTime, and a nanosecond for each byte, has lost its processor, and counts for itself only.
	mostTime = 100 * time.Microsecond
)

// timing is the beginning of a call that may be timed.
type timing struct {
	since time.Duration
	calls time.Duration // how many it counts for; 0: it is not timed
	class uint64
}

// chooser chooses the calls that are timed.
type chooser struct {
	left   uint32 // calls until the next one
	random uint32 // a state of xorshift, which is never 0
}

func newChooser() chooser {
	c := chooser{random: 1 + rand.Uint32N(math.MaxUint32)}
	c.next()
	return c
}

// next says how many calls it is until the next one that is timed: timedOneIn on average.
func (c *chooser) next() {
	c.random ^= c.random << 13
	c.random ^= c.random >> 17
	c.random ^= c.random << 5
	c.left = 1 + c.random%(2*timedOneIn-1)
}

// chosen reports whether a call for n bytes, as far as that is known, is timed. The lock is held. It is small enough to be inlined.
func (d *Endpoint) chosen(n int) bool {
	if !endpoint.Counting {
		return false
	}
	d.chooser.left--
	return d.chooser.left == 0 || n >= timedLength
}

// begins begins a call that is timed.
func (d *Endpoint) begins(n int, class uint64) timing {
	if n >= timedLength {
		d.chooser.left++ // it was not chosen
		return timing{d.clock(), 1, class}
	}
	d.chooser.next()
	return timing{d.clock(), timedOneIn, class}
}

// blocks says that the call is going to wait: for q, and for much, as may have turned out. Then all such calls are timed, and one that was
// chosen counts for itself.
func (t *timing) blocks(d *Endpoint, q *want) {
	if !endpoint.Counting || q.lengthIn(d.eng) < timedLength {
		return
	}
	if t.calls == 0 {
		*t = timing{d.clock(), 1, q.classIn(d.eng)}
	}
	t.calls = 1
}

// without takes out a wait that has proved long, and is counted already.
func (t *timing) without(w *waiter) { t.since += w.seen - w.began }

// ends ends a call that is timed, for n bytes.
func (d *Endpoint) ends(t *timing, n int) {
	took := d.clock() - t.since - clockTime()
	if took <= 0 {
		return
	}
	if took < mostTime+time.Duration(n) {
		took *= t.calls
	}
	d.eng.Spent(t.class, uint64(took))
}

// endsWait ends a call that is timed, and has collected a request, if ok, with its status.
func (d *Endpoint) endsWait(t *timing, ok bool, st *endpoint.Status) {
	n := 0
	if ok {
		n = int(st.MsgLength)
	}
	d.ends(t, n)
}

// endsSet ends a call that is timed, and has collected requests of a set.
func (d *Endpoint) endsSet(t *timing, s *set) {
	n := 0
	for i := range s.taken {
		n += int(s.states[i].MsgLength)
	}
	d.ends(t, n)
}

// clockTime is what a reading of the clock takes, which each measured time has in it.
var clockTime = sync.OnceValue(func() time.Duration {
	start, least := time.Now(), time.Second
	for range 64 {
		first := time.Since(start)
		least = min(least, time.Since(start)-first)
	}
	return least
})
