package driver

import "runtime"

// lock takes the endpoint's lock. A poller spins with the lock held; wanted
// tells it to let go for a moment.
func (d *Endpoint) lock() {
	if !d.single {
		d.acquire()
	}
}

func (d *Endpoint) acquire() {
	if !d.mu.TryLock() {
		d.wanted.Add(1)
		d.mu.Lock()
		d.wanted.Add(-1)
	}
}

func (d *Endpoint) unlock() {
	if !d.single {
		d.mu.Unlock()
	}
}

// yield lets callers that want the lock have it.
func (d *Endpoint) yield() {
	if d.single {
		return
	}
	d.mu.Unlock()
	runtime.Gosched()
	for i := 0; i < 1000 && d.wanted.Load() > 0; i++ {
		runtime.Gosched()
	}
	d.mu.Lock()
}
