package driver

import (
	"time"

	"gomx/endpoint"
)

// The time in calls is counted by class. That of a wait which proves long is measured, because such a wait reads the clock in any case. So
// are sends of much, and waits for messages that are known to be long. Of all other calls, which take less than two readings of the clock would,
// few are timed, and count for the rest. What is timed is how long a call has the lock.

// timedLength is the number of bytes of a message from which on calls that are known to be for it are timed.
const timedLength = 32 << 10

// timing is the beginning of a call that may be timed.
type timing struct {
	since time.Duration
	class uint64
	timed bool
}

// sends begins a send of n bytes.
func (t *timing) sends(d *Endpoint, n int, info uint64) {
	if endpoint.Counting && n >= timedLength {
		*t = timing{d.clock(), d.eng.ClassOfMatch(info), true}
	}
}

// blocks begins a call that is going to wait.
func (t *timing) blocks(d *Endpoint, q *want) {
	if endpoint.Counting && q.lengthIn(d.eng) >= timedLength {
		*t = timing{d.clock(), q.classIn(d.eng), true}
	}
}

// ends ends a call in which w, or nobody, has waited: the part of the wait that proved long is counted already. The lock is held.
func (t *timing) ends(d *Endpoint, w *waiter) {
	if !t.timed {
		return
	}
	took := d.clock() - t.since
	if w != nil {
		took -= w.seen - w.began
	}
	if took > 0 {
		d.eng.Spent(t.class, uint64(took))
	}
	d.timed = false
}
