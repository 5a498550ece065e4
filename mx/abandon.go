package mx

import "gomx/endpoint"

// Fate is what has become of a request that was given up with Abandon, and says whose its memory is.
type Fate uint8

// The fates.
const (
	// FateEnded: the request was complete, and is collected. Its buffer may be reused.
	FateEnded Fate = 0

	// FateCancelled: it was a receive that had not matched, a connect or a watch, and is cancelled. Its buffer may be
	// reused.
	FateCancelled Fate = 1

	// FateInUse: the operation goes on, and its end is not reported. Its buffer must not be reused: a send may be read
	// from it, or a message written to it, at any later time. Memory of the Go heap stays until then, also if the
	// program drops it; memory of Alloc must not be freed before the session with the peer has ended.
	FateInUse Fate = 2
)

// String returns the name of the fate.
func (f Fate) String() string { return endpoint.Fate(f).String() }

// Abandon gives up a request whose wait has ended early, because a deadline has passed, a context has ended, or another
// peer has failed. The request no longer exists afterwards. With FateEnded it was complete, and st is its status.
// Abandon is Cancel and Forget in one step, for packages that build on this one (MX has these two, IX.1). Errors:
// ErrBadRequest, ErrBadEndpoint. Safe from any goroutine.
func (ep *Endpoint) Abandon(r Request) (fate Fate, st Status, err error) {
	if r.ep != ep {
		return 0, st, ep.fail("abandon", "", ErrBadRequest)
	}
	var got endpoint.Status
	f, err := ep.d.Abandon(r.h, &got)
	if err == nil && f == endpoint.FateEnded {
		st.fill(ep, &got)
	}
	return Fate(f), st, ep.fail("abandon", "", err)
}

// Detach makes a request that goes on independent of the caller's memory. A send that is large or still queued is sent
// from a copy from now on, and the peer repeats reads of the original that it has not confirmed. A receive whose
// message is arriving in blocks, and a get, continue into a copy. mem is the copy, in one piece, which belongs to the request
// until that is complete; it is nil if there is none. If free is true, nothing accesses the caller's memory any more.
// If it is false, the request is a receive that has not matched, which Cancel cancels, or a receive or a get that the transport
// writes directly, or a send to the endpoint itself that the unexpected handler is looking at, which do not
// depend on the peer: they end soon, or can be detached later. It is false, too, of an atomic whose result is awaited, and of a multi-receive: they
// use the memory until they end. Detach costs a copy of the message: use it for waits
// that end early. Errors: ErrBadRequest, ErrBadEndpoint. Safe from any goroutine.
func (ep *Endpoint) Detach(r Request) (mem []byte, free bool, err error) {
	if r.ep != ep {
		return nil, false, ep.fail("detach", "", ErrBadRequest)
	}
	mem, free, err = ep.d.Detach(r.h)
	return mem, free, ep.fail("detach", "", err)
}
