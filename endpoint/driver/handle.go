package driver

import "gomx/endpoint"

// handled is a queue whose completions go to a handler.
type handled struct {
	m     *member
	most  int
	taken Taken
	run   func(n int)
}

// Handle installs run as the handler of the queue's completions. The goroutine that makes progress calls it without the lock,
// and never while another handler of the endpoint runs. Before that it calls taken for each of up to most completions.
// Errors: ErrSeveral if the queue is over more than one endpoint, and ErrHandled if it has a handler already. From then on
// Wait returns ErrHandled, also a Wait that has begun before.
func (q *Queue) Handle(most int, taken Taken, run func(n int)) error {
	if len(q.members) != 1 {
		return ErrSeveral
	}
	m := &q.members[0]
	m.d.share() // the handler may run in the endpoint's own goroutine, and call
	return m.d.call(func(*endpoint.Engine) error {
		if err := m.over(); err != nil {
			return err
		}
		if m.d.handed(m.id) {
			return ErrHandled
		}
		m.d.handlers = append(m.d.handlers, handled{m, most, taken, run})
		m.d.serve() // wakes the goroutines that wait for the queue
		return nil
	})
}

// handed reports whether a handler gets what completes into a queue. The lock is held.
func (d *Endpoint) handed(id endpoint.QueueID) bool {
	for i := range d.handlers {
		if d.handlers[i].m.id == id {
			return true
		}
	}
	return false
}

// unhandled reports whether completions wait for their handler. The lock is held.
func (d *Endpoint) unhandled() bool {
	for i := range d.handlers {
		if d.eng.Queued(d.handlers[i].m.id) > 0 {
			return true
		}
	}
	return false
}

// handle runs the handlers of queues. The caller has the polling role, and no other goroutine polls meanwhile.
func (d *Endpoint) handle() {
	for i := 0; i < len(d.handlers) && !d.closed; i++ {
		h := &d.handlers[i]
		if n := h.m.take(0, h.most, h.taken); n > 0 {
			run := h.run
			d.runs(func() { run(n) })
		}
	}
}
