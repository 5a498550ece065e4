package mx

import (
	"time"

	"gomx/endpoint/driver"
)

// Waiter is where one goroutine at a time waits for something that is not a request: what a handler of unexpected
// messages or another goroutine tells it of by Wake. While it waits, the endpoint makes progress as in every blocking
// call; on a core that others use it spins for a small share of the time only, and sleeps otherwise. A library that has connections of
// its own over an endpoint gives each of its operations one. MX does not have it.
type Waiter struct {
	ep *Endpoint
	w  *driver.Waiter
}

// NewWaiter makes a Waiter of the endpoint. It needs no closing.
func (ep *Endpoint) NewWaiter() *Waiter { return &Waiter{ep, ep.d.NewWaiter(false)} }

// NewPassiveWaiter makes a Waiter on which a goroutine only sleeps: other goroutines that wait, or the endpoint's own,
// make progress.
func (ep *Endpoint) NewPassiveWaiter() *Waiter { return &Waiter{ep, ep.d.NewWaiter(true)} }

// KeepProgress makes the endpoint's own goroutine make progress at once, until a goroutine of the program waits. It is for a
// library that has to answer its peers while no call of the program waits. The library calls it where the last of its
// calls may have ended: without it the endpoint's goroutine begins some milliseconds later. After the first KeepProgress of an
// endpoint, its goroutine always begins one millisecond after the program's last call. KeepProgress returns at once, and may be
// called from any goroutine, also inside the handler of unexpected messages. MX does not have it.
func (ep *Endpoint) KeepProgress() { ep.d.KeepProgress() }

// Wait blocks until Wake is called, and returns at once if it was called since the last Wait that it woke. It waits
// for the timeout: Infinite waits for ever, 0 polls once. Without woken and without an error the time has passed, or Wakeup
// of the endpoint was called. Error: ErrBadEndpoint if the endpoint is closed. One goroutine at a time may call it.
// Nothing is allocated.
func (w *Waiter) Wait(timeout time.Duration) (woken bool, err error) {
	woken, err = w.w.Wait(timeout)
	if err != nil {
		err = w.ep.fail("wait", "", err)
	}
	return woken, err
}

// Wake ends the Wait of the moment, or else the next one. Any goroutine may call it, at any time, also inside the
// handler of unexpected messages.
func (w *Waiter) Wake() { w.w.Wake() }
