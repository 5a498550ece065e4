package driver

// FD returns a descriptor that becomes readable when something arrives for an
// endpoint that Arm has armed. It belongs to the endpoint. Safe from any goroutine.
func (d *Endpoint) FD() (int, error) { return d.fd(d.over) }

// fd is FD until it is over, which is asked with the lock held.
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

// Arm prepares the endpoint for a caller that sleeps on FD, together with
// descriptors of its own. False: something has happened already, don't sleep.
// The next call on the endpoint disarms it.
func (d *Endpoint) Arm() (bool, error) {
	return d.arm(d.over, d.eng.Completed)
}

// arm is Arm for a caller who collects what complete counts, until it is over. Both are called with the lock held.
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

// FDs returns the descriptors of the queue's endpoints that are open. They belong to them. ErrQueueClosed: the queue is
// closed. ErrClosed: all its endpoints are. Safe from any goroutine.
func (q *Queue) FDs() ([]int, error) {
	var fds []int
	for i := range q.members {
		m := &q.members[i]
		switch fd, err := m.d.fd(m.over); err {
		case nil:
			fds = append(fds, fd)
		case ErrClosed: // the others go on
		default:
			return nil, err
		}
	}
	if len(fds) == 0 {
		return nil, ErrClosed
	}
	return fds, nil
}

// Arm prepares all endpoints of the queue that are open for a caller that sleeps on FDs. False: something has happened
// already, and none of them is armed. The errors are those of FDs.
func (q *Queue) Arm() (bool, error) {
	open := 0
	for i := range q.members {
		m := &q.members[i]
		armed, err := m.d.arm(m.over, func() int { return m.d.eng.Queued(m.id) })
		switch {
		case armed:
			open++
		case err != ErrClosed: // else the others go on
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

// unarm takes Arm back.
func (d *Endpoint) unarm() {
	d.lock()
	if !d.closed {
		d.disarm()
		d.after()
	}
	d.unlock()
}
