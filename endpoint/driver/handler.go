package driver

import (
	"errors"
	"runtime"

	"gomx/endpoint"
)

// ErrInHandler is returned by Close and CloseWindow when a handler of the endpoint calls them, because they would wait for that
// handler to return.
var ErrInHandler = errors.New("called inside a handler of the endpoint")

// SetHandler installs the handler of unexpected messages, or removes it if f is nil.
func (d *Endpoint) SetHandler(f Handler) error {
	if f != nil {
		d.share() // the endpoint's own goroutine may run it, and it may call the endpoint
	}
	return d.call(func(e *endpoint.Engine) error {
		d.handler = f
		e.SetHandler(f != nil)
		return nil
	})
}

// Unexpected runs the handler without the lock, so that it may call the endpoint. The pass is suspended until the handler
// returns, so nothing progresses meanwhile.
func (h *host) Unexpected(m *endpoint.Incoming) (action endpoint.Action) {
	d := (*Endpoint)(h)
	f := d.handler
	if f == nil {
		return endpoint.Continue
	}
	action = endpoint.Continue // the message stays, if the handler panics
	d.runs(func() { action = f(m) })
	return action
}

// runs runs a handler without the lock, in the middle of a pass.
func (d *Endpoint) runs(f func()) {
	var thrown any
	d.handling = true
	own, group := d.own, d.back.pass
	alone := own && !d.waited()
	if !d.back.watching {
		d.back.watch() // f may take long, and strangers come meanwhile
	}
	d.outside(func() {
		if own {
			group.leaveOthers(d)
		}
		if alone {
			runHandler(f)
		} else {
			thrown = catching(f)
		}
	})
	d.handling = false
	if d.thrown == nil {
		d.thrown = thrown
	}
	if own && d.thrown != nil {
		d.throwTo()
	}
	d.handled.Broadcast()
	d.pollers() // those that came meanwhile could not take the role
}

// waited reports whether a call waits that a panic can go up from. Passive waiters are the library's own.
func (d *Endpoint) waited() bool { return d.blocked > d.parked.passive }

// throwTo has a call that waits raise the panic of a handler that has run in the endpoint's own goroutine. If none waits any more, it
// goes up here.
func (d *Endpoint) throwTo() {
	if !d.waited() {
		d.throwOn()
	}
	for _, w := range d.parked.all {
		if !w.passive {
			w.wake(d)
		}
	}
	for _, v := range d.parked.wakers {
		if !v.passive {
			v.w.wake(d)
		}
	}
}

// catching runs a handler, and catches its panic until the pass in whose middle it runs is over. In the endpoint's own goroutine,
// while no call waits, nobody could do more than see where the panic comes from; there it ends the process, as any would.
func catching(f func()) (thrown any) {
	defer func() { thrown = recover() }()
	runHandler(f)
	return nil
}

// threw reports whether the handler has panicked in the pass that the holder of the lock has made.
func (d *Endpoint) threw() bool { return d.thrown != nil && !d.handling }

// rethrow raises a handler's panic again in the goroutine that has made the pass, without the lock.
func (d *Endpoint) rethrow() {
	if d.threw() {
		d.throwOn()
	}
}

func (d *Endpoint) throwOn() {
	v := d.thrown
	d.thrown = nil
	d.unlock()
	panic(v)
}

// runHandler is a function of its own so that insideHandler finds it on the
// stack.
//
//go:noinline
func runHandler(f func()) { f() }

const handlerFrame = "gomx/endpoint/driver.runHandler"

// InHandler reports whether the calling goroutine may be inside a handler of this endpoint, where Close returns ErrInHandler. Any
// goroutine may ask.
func (d *Endpoint) InHandler() bool {
	d.visit()
	handling := d.handling && !d.closed
	d.unlock()
	return handling && insideHandler()
}

// insideHandler reports whether the calling goroutine is inside a handler, for calls that would wait for themselves there.
// Goroutines have no ids, and a goroutine that a handler starts inherits its labels, so only the stack tells whether a handler
// is the caller. The stack is examined only while a handler runs.
func insideHandler() bool {
	var pcs [64]uintptr
	for skip := 2; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		if n == 0 {
			return false
		}
		frames := runtime.CallersFrames(pcs[:n])
		for more := true; more; {
			var f runtime.Frame
			if f, more = frames.Next(); f.Function == handlerFrame {
				return true
			}
		}
	}
}
