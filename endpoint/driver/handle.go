package driver

import "gomx/endpoint"

// handled is a queue whose completions are handed to a handler.
type handled struct {
	m     *member
	most  int
	taken Taken
	run   func(n int)
}

// Handle has run called when requests of the queue have completed: by whoever makes progress, without the lock, and
// never beside another handler of the endpoint. taken is called before, for each of up to most completions. The queue
// is over one endpoint, or it is ErrSeveral; it may be called once, then it is ErrHandled, as is Wait, also one that waits already.
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
		m.d.serve() // those who wait for the queue
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

// handle runs the handlers of queues. The caller polls, which nobody else does meanwhile.
func (d *Endpoint) handle() {
	for i := 0; i < len(d.handlers) && !d.closed; i++ {
		h := &d.handlers[i]
		if n := h.m.take(0, h.most, h.taken); n > 0 {
			run := h.run
			d.runs(func() { run(n) })
		}
	}
}
