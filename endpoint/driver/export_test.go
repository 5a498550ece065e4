package driver

// ShareCore has the endpoint take its core for a shared one for good.
func (d *Endpoint) ShareCore() {
	d.guest()
	d.pace.shared, d.pace.kept = true, -1<<30
	d.unlock()
}
