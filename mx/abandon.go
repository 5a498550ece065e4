package mx

import "gomx/endpoint"

// Fate is what has become of a request that was given up with Abandon, and says whose its memory is.
type Fate uint8

// The fates.
const (
	// FateEnded: the request was complete, and is collected. Its memory is the caller's again.
	FateEnded = Fate(endpoint.Ended)

	// FateTakenBack: it was a receive without a message, a connect or a watch, and nothing will come of it.
	// Its memory is the caller's again.
	FateTakenBack = Fate(endpoint.TakenBack)

	// FateInUse: the operation goes on, and nobody is told when it is over. Its memory must not be used for anything
	// else: a send may be read from it, a message written to it, at any later time. Memory of the Go heap stays
	// until then, also if the program drops it; memory of Alloc must not be freed before the peer is gone.
	FateInUse = Fate(endpoint.InUse)
)

// String returns the name of the fate.
func (f Fate) String() string { return endpoint.Fate(f).String() }

// Abandon gives up a request whose wait has ended early: a deadline has passed, a context has ended, somebody else has
// died. Whatever became of it, the request is gone. With FateEnded st says how it ended. Cancel and Forget in
// one step, for those who build on the package (MX has these two, IX.1). Errors: ErrBadRequest, ErrBadEndpoint. Safe from any goroutine.
func (ep *Endpoint) Abandon(r Request) (fate Fate, st Status, err error) {
	if r.ep != ep {
		return 0, st, ep.fail("abandon", "", ErrBadRequest)
	}
	var got endpoint.Status
	f, err := ep.d.Abandon(r.h, &got)
	if err == nil && f == endpoint.Ended {
		st.fill(ep, &got)
	}
	return Fate(f), st, ep.fail("abandon", "", err)
}

// Detach gives the caller back the memory of a request that goes on. A send, large or still in its queue, leaves
// from a copy from now on, and what the peer has read of the original until then and not said so, it reads again. A receive whose
// message is being fetched in blocks goes on into a copy. mem is the copy, in one piece, and belongs to the request until that is
// complete; nil if it needs none. With free nobody reads or writes the caller's memory any more. Without, the request is a receive that waits
// for a message, which Cancel takes back, or one that the medium writes into by itself, or a send to the endpoint itself that the
// unexpected handler is being shown: these two need nothing of the peer and end soon, or can be detached later. A copy of a message is
// what it costs: this is for waits that end early. Errors: ErrBadRequest, ErrBadEndpoint. Safe from any goroutine.
func (ep *Endpoint) Detach(r Request) (mem []byte, free bool, err error) {
	if r.ep != ep {
		return nil, false, ep.fail("detach", "", ErrBadRequest)
	}
	mem, free, err = ep.d.Detach(r.h)
	return mem, free, ep.fail("detach", "", err)
}
