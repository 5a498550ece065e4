//go:build linux

package bell

import (
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"gomx/internal/labels"
	"gomx/transport"
)

// alarm calls functions of bells a moment after they have asked. All bells of a process share a timer of the system: where
// a process rests otherwise Go's timers count in milliseconds, as its network poller does.
type alarm struct {
	mu    sync.Mutex
	users int      // open bells that ask, or may
	timer *os.File // nil without users
	fd    int
	asked []request
	spare []request // the list that was served last
}

// request is that a function be called for a bell.
type request struct {
	bell *Bell
	call func()
}

var alarms alarm

// soon is what a bell has to do with the alarm, whose lock guards it.
type soon struct{ user, asked bool }

// Soon has f called a moment later in a goroutine of its own: what a bell asks before that is one call. No call
// begins after Close. Safe from any goroutine.
func (b *Bell) Soon(f func()) {
	a, s := &alarms, &b.soon
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case s.asked || b.closed.Load():
		return
	case !a.enter(b):
		time.AfterFunc(transport.SoonIs, f) // no descriptor is left
		return
	}
	s.asked = true
	if a.asked = append(a.asked, request{b, f}); len(a.asked) == 1 {
		setTimer(a.fd, transport.SoonIs)
	}
}

// expect makes what Soon takes. A bell that watches something is likely to be asked for it.
func (a *alarm) expect(b *Bell) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !b.closed.Load() {
		a.enter(b)
	}
}

// enter makes a bell one that may ask, and the timer, if there is none.
func (a *alarm) enter(b *Bell) bool {
	switch {
	case b.soon.user:
		return true
	case a.timer == nil && !a.open():
		return false
	}
	a.users++
	b.soon.user = true
	return true
}

// open makes the timer.
func (a *alarm) open() bool {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return false
	}
	timer := os.NewFile(uintptr(fd), "alarm")
	a.fd, a.timer = fd, timer
	go labels.For("soon").Func(func() { a.serve(timer) })()
	return true
}

// serve calls the functions each time the timer ends, until it is closed.
func (a *alarm) serve(timer *os.File) {
	var times [8]byte
	for {
		if _, err := timer.Read(times[:]); err != nil {
			return
		}
		a.mu.Lock()
		list := a.asked
		a.asked, a.spare = a.spare[:0], nil
		for _, r := range list {
			r.bell.soon.asked = false
		}
		a.mu.Unlock()
		for _, r := range list {
			if !r.bell.closed.Load() {
				go r.call() // a handler of the program may keep it
			}
		}
		clear(list)
		a.mu.Lock()
		a.spare = list[:0]
		a.mu.Unlock()
	}
}

// leave is the end of a bell. The last one closes the timer.
func (a *alarm) leave(b *Bell) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !b.soon.user {
		return
	}
	b.soon.user = false
	if a.users--; a.users == 0 {
		_ = a.timer.Close()
		a.timer, a.asked = nil, nil
	}
}
