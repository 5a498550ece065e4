package exs

import (
	"sync"
	"sync/atomic"
	"time"
)

// deadline is a time that may be changed, even while a goroutine waits for it.
type deadline struct {
	passed atomic.Bool

	mu    sync.Mutex
	when  time.Time
	timer *time.Timer
	tell  func() // wakes the goroutine that waits
}

// set changes the deadline. The zero time means no deadline.
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

// expire is called by the timer. The deadline may have been changed since the timer was set.
func (d *deadline) expire() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.when.IsZero() {
		d.look()
	}
}

// look checks whether the deadline has passed, and otherwise sets the timer again.
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

// stop stops the timer when no goroutine waits any more.
func (d *deadline) stop() { d.set(time.Time{}) }
