package driver

import (
	"errors"
	"slices"
	"sync"

	"gomx/transport"
)

// ErrReleased is what release returns the second time.
var ErrReleased = errors.New("the memory is not registered any more")

// registry is the memory that ports have registered. Its lock is held while they register and release memory, so that neither
// happens after they were closed.
type registry struct {
	mu     sync.Mutex
	closed bool
}

// registration is a piece of memory that ports have registered.
type registration struct {
	releases []func() error // one for each of these ports
	released bool
}

// Register registers memory with all ports that need registration, until release or Close. If one port fails, its error is
// returned, and no port keeps the memory. A second release returns ErrReleased, and a release after Close returns ErrClosed.
// Any goroutine may call it.
func (d *Endpoint) Register(mem []byte) (release func() error, err error) {
	d.memory.mu.Lock()
	defer d.memory.mu.Unlock()
	if d.memory.closed {
		return nil, ErrClosed
	}
	r := &registration{}
	for _, p := range d.ports {
		registrar, ok := p.(transport.Registrar)
		if !ok {
			continue
		}
		f, err := registrar.Register(mem)
		if err != nil {
			return nil, errors.Join(err, r.release())
		}
		r.releases = append(r.releases, f)
	}
	return func() error { return d.memory.release(r) }, nil
}

func (m *registry) release(r *registration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	if r.released {
		return ErrReleased
	}
	return r.release()
}

// close leaves all memory to the ports, which release it when they are closed.
func (m *registry) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
}

func (r *registration) release() error {
	var errs []error
	for _, f := range slices.Backward(r.releases) {
		errs = append(errs, f())
	}
	r.releases, r.released = nil, true
	return errors.Join(errs...)
}
