package driver

// FD returns a descriptor that becomes readable when something arrives for an
// endpoint that Arm has armed. It belongs to the endpoint.
func (d *Endpoint) FD() (int, error) { return d.bell.FD() }

// Arm prepares the endpoint for a caller that sleeps on FD, together with
// descriptors of its own. False: something has happened already, don't sleep.
// The next call on the endpoint disarms it.
func (d *Endpoint) Arm() (bool, error) {
	return d.arm(func() bool { return d.closed }, d.eng.Completed)
}

// arm is Arm for a caller who collects what complete counts, until it is over. Both are called with the lock held.
func (d *Endpoint) arm(over func() bool, complete func() int) (bool, error) {
	d.lock()
	if over() {
		d.unlock()
		return false, ErrClosed
	}
	d.once()
	d.rouse()
	if complete() == 0 && d.poller == nil && d.blocked == 0 && d.mayPass() {
		d.bell.Drain()
		d.bell.Arm(true)
		if d.armed = d.quiet() && complete() == 0 && !d.eng.Backlog(); !d.armed {
			d.bell.Disarm()
		}
	}
	armed := d.armed
	d.unlock()
	return armed, nil
}

// FDs returns the descriptors of the queue's endpoints. They belong to them.
func (q *Queue) FDs() ([]int, error) {
	var fds []int
	for i := range q.members {
		fd, err := q.members[i].d.FD()
		if err != nil {
			return nil, err
		}
		fds = append(fds, fd)
	}
	return fds, nil
}

// Arm prepares all endpoints of the queue for a caller that sleeps on FDs. False: something has happened already, and
// none of them is armed.
func (q *Queue) Arm() (bool, error) {
	for i := range q.members {
		m := &q.members[i]
		armed, err := m.d.arm(m.over, func() int { return m.d.eng.Queued(m.id) })
		if !armed {
			for k := range i {
				q.members[k].d.unarm()
			}
			return false, err
		}
	}
	return true, nil
}

// unarm takes Arm back.
func (d *Endpoint) unarm() {
	d.lock()
	d.disarm()
	d.after()
	d.unlock()
}
