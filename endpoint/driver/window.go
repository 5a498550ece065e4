package driver

import (
	"context"
	"errors"

	"gomx/endpoint"
	"gomx/transport/wire"
)

// ErrNoWindow is what CloseWindow returns the second time.
var ErrNoWindow = errors.New("the window is closed already")

// noContext is for calls that no context ends early.
var noContext context.Context

// Put starts a put into a window of a peer.
func (d *Endpoint) Put(v wire.Vec, to endpoint.Addr, window uint64, at uint32, match uint64, ctx any) (endpoint.Handle, error) {
	d.lock()
	if !d.opens() {
		return 0, ErrClosed
	}
	h, err := d.eng.Put(v, to, window, at, match, ctx)
	if to.Peer == 0 {
		d.trigger()
	}
	d.after()
	d.unlock()
	return h, err
}

// Get starts a get from a window of a peer.
func (d *Endpoint) Get(v wire.Vec, from endpoint.Addr, window uint64, at uint32, match uint64, ctx any) (endpoint.Handle, error) {
	d.lock()
	if !d.opens() {
		return 0, ErrClosed
	}
	h, err := d.eng.Get(v, from, window, at, match, ctx)
	d.after()
	d.unlock()
	return h, err
}

// Write puts a few bytes into a window of a peer, without a request; see the engine.
func (d *Endpoint) Write(b []byte, to endpoint.Addr, window uint64, at uint32) (bool, error) {
	d.lock()
	if !d.opens() {
		return false, ErrClosed
	}
	sent, err := d.eng.Write(b, to, window, at)
	d.after()
	d.unlock()
	return sent, err
}

// Atomic starts an atomic on a window of a peer. An atomic on a window of this endpoint completes at once, and makes a pass, so
// that a program can poll its own window in a loop until a peer has changed it.
func (d *Endpoint) Atomic(a wire.AtomicWhat, b []byte, to endpoint.Addr, window uint64, at uint32, match uint64, ctx any) (endpoint.Handle, error) {
	d.lock()
	if !d.opens() {
		return 0, ErrClosed
	}
	h, err := d.eng.Atomic(a, b, to, window, at, match, ctx)
	if to.Peer == 0 {
		d.once()
	}
	d.after()
	d.unlock()
	return h, err
}

// AtomicNow starts an atomic without a request; see the engine.
func (d *Endpoint) AtomicNow(a wire.AtomicWhat, b []byte, to endpoint.Addr, window uint64, at uint32) (bool, error) {
	d.lock()
	if !d.opens() {
		return false, ErrClosed
	}
	sent, err := d.eng.AtomicNow(a, b, to, window, at)
	d.after()
	d.unlock()
	return sent, err
}

// AtomicHere carries out an atomic on a window of this endpoint, and makes no pass; see the engine. Any goroutine may call it.
func (d *Endpoint) AtomicHere(a wire.AtomicWhat, b []byte, window uint64, at uint32) (endpoint.Code, error) {
	d.visit()
	defer d.unlock()
	if d.closed {
		return 0, ErrClosed
	}
	return d.eng.AtomicHere(a, b, window, at)
}

// WindowUse makes one pass, and returns how many puts and gets a window has seen.
func (d *Endpoint) WindowUse(id uint64) (puts, gets uint64, err error) {
	d.lock()
	if d.closed {
		d.unlock()
		return 0, 0, ErrClosed
	}
	d.once()
	puts, gets = d.eng.WindowUse(id)
	d.unlock()
	return puts, gets, nil
}

// DenyWindows makes this endpoint refuse all operations of a peer on its windows. Any goroutine may call it.
func (d *Endpoint) DenyWindows(nic uint64, id uint32) error {
	d.lockForeign()
	defer d.unlock()
	if d.closed {
		return ErrClosed
	}
	d.eng.DenyWindows(nic, id)
	d.after()
	return nil
}

// OpenWindow lets peers read and write memory; see the engine.
func (d *Endpoint) OpenWindow(mem []byte, may endpoint.Permission, key uint64) (uint64, error) {
	return asked(d, func(e *endpoint.Engine) (uint64, error) { return e.OpenWindow(mem, may, key) })
}

// CloseWindow ends the peers' access to a window, and waits until no link touches its memory any more. After ErrClosed, links
// may touch the memory until Close has returned. In a handler the error is ErrInHandler.
func (d *Endpoint) CloseWindow(id uint64) error {
	d.lock()
	var err error
	switch {
	case d.closed:
		err = ErrClosed
	case d.handling && insideHandler():
		err = ErrInHandler
	case !d.eng.CloseWindow(id):
		err = ErrNoWindow
	default:
		d.after()
	}
	for err == nil && d.eng.WindowBusy(id) {
		w := d.parked.get(&want{kind: forWindow, value: id})
		_, err = d.block(noContext, w, Infinite)
		d.parked.put(w)
	}
	d.unlock()
	return err
}
