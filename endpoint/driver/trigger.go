package driver

import (
	"gomx/endpoint"
	"gomx/transport/wire"
)

// SendAt starts a send when the counter has counted so many successes.
func (c *Counter) SendAt(successes uint64, o *endpoint.Outgoing, opts *endpoint.SendOptions) (h endpoint.Handle, err error) {
	err = c.start(func(e *endpoint.Engine) (err error) {
		h, err = e.SendAt(c.at(successes), o, opts)
		return err
	})
	return h, err
}

// PutAt starts a put when the counter has counted so many successes.
func (c *Counter) PutAt(successes uint64, v wire.Vec, to endpoint.Addr, window uint64, at uint32, match uint64, ctx any) (h endpoint.Handle, err error) {
	err = c.start(func(e *endpoint.Engine) (err error) {
		h, err = e.PutAt(c.at(successes), v, to, window, at, match, ctx)
		return err
	})
	return h, err
}

// GetAt starts a get when the counter has counted so many successes.
func (c *Counter) GetAt(successes uint64, v wire.Vec, from endpoint.Addr, window uint64, at uint32, match uint64, ctx any) (h endpoint.Handle, err error) {
	err = c.start(func(e *endpoint.Engine) (err error) {
		h, err = e.GetAt(c.at(successes), v, from, window, at, match, ctx)
		return err
	})
	return h, err
}

// AtomicAt starts an atomic when the counter has counted so many successes.
func (c *Counter) AtomicAt(successes uint64, a wire.AtomicWhat, b []byte, to endpoint.Addr, window uint64, at uint32, match uint64, ctx any) (h endpoint.Handle, err error) {
	err = c.start(func(e *endpoint.Engine) (err error) {
		h, err = e.AtomicAt(c.at(successes), a, b, to, window, at, match, ctx)
		return err
	})
	return h, err
}

// Increment counts so many successes that are no requests.
func (c *Counter) Increment(by uint64) error {
	return c.start(func(e *endpoint.Engine) error {
		e.Increment(c.m.id, by)
		return nil
	})
}

func (c *Counter) at(successes uint64) endpoint.Trigger {
	return endpoint.Trigger{Counter: c.m.id, At: successes}
}

// start is call for what may begin operations.
func (c *Counter) start(f func(*endpoint.Engine) error) error {
	d, err := c.begin()
	if err != nil {
		return err
	}
	err = f(d.eng)
	c.end()
	return err
}

// begin takes the lock for an operation, unless the counter is closed.
func (c *Counter) begin() (*Endpoint, error) {
	d := c.m.d
	d.lock()
	if !d.opens() {
		return nil, ErrClosed
	}
	if err := c.m.over(); err != nil {
		d.unlock()
		return nil, err
	}
	return d, nil
}

// end gives the lock back. What the operation has triggered begins, and is not left to a pass that may be some time away.
func (c *Counter) end() {
	d := c.m.d
	d.trigger()
	d.after()
	d.unlock()
}

// trigger begins what the call of a program has triggered.
func (d *Endpoint) trigger() {
	if d.eng.Triggered() {
		d.beginTriggered()
	}
}

// beginTriggered makes a pass, which begins what is triggered. If further operations wait for counters, a goroutine polls for
// what they wait for: the program may make no other call.
func (d *Endpoint) beginTriggered() {
	if d.poller == &d.back.w && d.mayPass() {
		d.progress(false) // the endpoint's own goroutine goes on with the rest
		d.rethrow()
	} else if d.once(); d.poller == nil && d.blocked == 0 && d.eng.Holds() {
		d.back.carryOn()
	}
}
