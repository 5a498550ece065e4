package exs

import (
	"sync"
	"sync/atomic"
	"time"
)

// deadline is a time that may be moved, also while somebody waits for it.
type deadline struct {
	passed atomic.Bool

	mu    sync.Mutex
	when  time.Time
	timer *time.Timer
	tell  func() // wakes the one who waits
}

// set moves the deadline. The zero time is none.
func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.when = t
	if d.timer != nil {
		d.timer.Stop()
	}
	if t.IsZero() {
		d.passed.Store(false)
		return
	}
	d.look()
}

// expire is called by the timer, perhaps for a time that was moved since.
func (d *deadline) expire() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.when.IsZero() {
		d.look()
	}
}

// look finds out whether the time has come, or when to look again.
func (d *deadline) look() {
	left := time.Until(d.when)
	d.passed.Store(left <= 0)
	switch {
	case left <= 0:
		d.tell()
	case d.timer == nil:
		d.timer = time.AfterFunc(left, d.expire)
	default:
		d.timer.Reset(left)
	}
}

// stop ends the timer. Nobody waits any more.
func (d *deadline) stop() { d.set(time.Time{}) }
