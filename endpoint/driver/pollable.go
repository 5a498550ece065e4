package driver

// FD returns a descriptor that becomes readable when something arrives for an
// endpoint that Arm has armed. It belongs to the endpoint.
func (d *Endpoint) FD() (int, error) { return d.bell.FD() }

// Arm prepares the endpoint for a caller that sleeps on FD, together with
// descriptors of its own. False: something has happened already, don't sleep.
// The next call on the endpoint disarms it.
func (d *Endpoint) Arm() (bool, error) {
	d.lock()
	defer d.unlock()
	if d.closed {
		return false, ErrClosed
	}
	d.once()
	if d.eng.Completed() > 0 || !d.mayPoll() {
		return false, nil
	}
	d.bell.Drain()
	d.bell.Arm(true)
	if !d.quiet() || d.eng.Completed() > 0 || d.eng.Backlog() {
		d.bell.Disarm()
		return false, nil
	}
	d.armed = true
	return true, nil
}
