package driver

import (
	"errors"
	"runtime"

	"gomx/endpoint"
)

// ErrInHandler is returned by Close when the unexpected handler calls it.
var ErrInHandler = errors.New("called inside the unexpected handler")

// SetHandler installs the handler of unexpected messages, or with nil takes it
// away.
func (d *Endpoint) SetHandler(f Handler) error {
	if f != nil {
		d.share() // it may run in the endpoint's own goroutine, and call
	}
	return d.call(func(e *endpoint.Engine) error {
		d.handler = f
		e.SetHandler(f != nil)
		return nil
	})
}

// Unexpected runs the handler without the lock, so that it may call the
// endpoint. The polling role stays taken: nothing progresses meanwhile.
func (h *host) Unexpected(m *endpoint.Incoming) (action endpoint.Action) {
	d := (*Endpoint)(h)
	f := d.handler
	if f == nil {
		return endpoint.Continue
	}
	d.runs(func() { action = f(m) })
	return action
}

// runs runs a handler without the lock. The caller polls.
func (d *Endpoint) runs(f func()) {
	d.handling = true
	d.outside(func() { runHandler(f) })
	d.handling = false
	d.handled.Broadcast()
	if !d.polling && d.blocked != 0 {
		d.handOver() // the role was taken away meanwhile, and nobody could have it
	}
}

// runHandler is a function of its own so that insideHandler finds it on the
// stack.
//
//go:noinline
func runHandler(f func()) { f() }

const handlerFrame = "gomx/endpoint/driver.runHandler"

// insideHandler reports whether the calling goroutine is inside a handler. It is
// asked only where a wrong answer would be a deadlock.
func insideHandler() bool {
	var pcs [64]uintptr
	for skip := 2; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		if n == 0 {
			return false
		}
		frames := runtime.CallersFrames(pcs[:n])
		for {
			f, more := frames.Next()
			if f.Function == handlerFrame {
				return true
			}
			if !more {
				break
			}
		}
	}
}
