package driver

// FD returns a descriptor that becomes readable when something arrives for an
// endpoint that Arm has armed. It belongs to the endpoint.
func (d *Endpoint) FD() (int, error) { return d.bell.FD() }

// Arm prepares the endpoint for a caller that sleeps on FD, together with
// descriptors of its own. False: something has happened already, don't sleep.
// The next call on the endpoint disarms it.
func (d *Endpoint) Arm() (bool, error) {
	d.lock()
	if d.closed {
		d.unlock()
		return false, ErrClosed
	}
	d.once()
	d.rouse()
	if d.eng.Completed() == 0 && d.poller == nil && d.blocked == 0 && d.mayPass() {
		d.bell.Drain()
		d.bell.Arm(true)
		if d.armed = d.quiet() && d.eng.Completed() == 0 && !d.eng.Backlog(); !d.armed {
			d.bell.Disarm()
		}
	}
	armed := d.armed
	d.unlock()
	return armed, nil
}
