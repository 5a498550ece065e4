package driver

// FD returns a descriptor that becomes readable when something arrives for an
// endpoint that Arm has armed. It belongs to the endpoint. Any
// goroutine may call FD.
func (d *Endpoint) FD() (int, error) { return d.fd(d.over) }

// fd is FD, unless over returns an error. over is called with the lock held.
func (d *Endpoint) fd(over func() error) (int, error) {
	d.lockForeign()
	defer d.unlock()
	if err := over(); err != nil {
		return -1, err
	}
	return d.bell.FD()
}

// over returns ErrClosed once the endpoint is closed. The lock is held.
func (d *Endpoint) over() error {
	if d.closed {
		return ErrClosed
	}
	return nil
}

// Arm prepares the endpoint for a caller that sleeps on FD and on descriptors of its own. If it returns false, something has happened
// already, and the caller must not sleep. The next call on the endpoint disarms it.
func (d *Endpoint) Arm() (bool, error) {
	return d.arm(d.over, d.eng.Completed)
}

// arm is Arm for a caller that collects the requests that complete counts, unless over returns an error. Both functions are called
// with the lock held.
func (d *Endpoint) arm(over func() error, complete func() int) (bool, error) {
	d.lock()
	if err := over(); err != nil {
		d.unlock()
		return false, err
	}
	d.once()
	d.rouse()
	armed, err := false, over() // others may have closed it meanwhile, and have armed it
	if err == nil && complete() == 0 && d.poller == nil && d.blocked == 0 && d.mayPass() {
		d.bell.Drain()
		d.bell.Arm(true)
		armed = d.quiet() // which may run a handler
		if err = over(); err != nil || complete() != 0 || d.eng.Backlog() {
			armed = false
		}
		if d.armed = armed; !armed {
			d.bell.Disarm()
		}
	}
	d.unlock()
	return armed, err
}

// FDs returns the descriptors of the queue's endpoints that are open. The descriptors belong to the endpoints. The error is
// ErrQueueClosed if the queue is closed, and ErrClosed if all its endpoints are. Any goroutine may call it.
func (q *Queue) FDs() ([]int, error) {
	var fds []int
	for i := range q.members {
		m := &q.members[i]
		switch fd, err := m.d.fd(m.over); err {
		case nil:
			fds = append(fds, fd)
		case ErrClosed: // the other endpoints remain in use
		default:
			return nil, err
		}
	}
	if len(fds) == 0 {
		return nil, ErrClosed
	}
	return fds, nil
}

// Arm prepares all open endpoints of the queue for a caller that sleeps on FDs. If it returns false, something has
// happened already, and no endpoint is armed. The errors are those of FDs.
func (q *Queue) Arm() (bool, error) {
	open := 0
	for i := range q.members {
		m := &q.members[i]
		armed, err := m.d.arm(m.over, func() int { return m.d.eng.Queued(m.id) })
		switch {
		case armed:
			open++
		case err != ErrClosed: // the other endpoints of the queue remain in use
			for k := range i {
				q.members[k].d.unarm()
			}
			return false, err
		}
	}
	if open == 0 {
		return false, ErrClosed
	}
	return true, nil
}

// unarm undoes Arm.
func (d *Endpoint) unarm() {
	d.lock()
	if !d.closed {
		d.disarm()
		d.after()
	}
	d.unlock()
}
