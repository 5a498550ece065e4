package endpoint

import "gomx/transport/wire"

// Level says when a send completes.
type Level uint8

// The levels. Each says what those before it say, and more.
const (
	BufferFree   Level = iota // its memory may be reused (V.1.1)
	Acknowledged              // the peer's engine has the message, matched or not, so that nothing that happens to us loses it
	Matched                   // a receive has matched it (V.1.2)
)

// Valid reports whether l is one of the levels.
func (l Level) Valid() bool { return l <= Matched }

func (l Level) kind() requestKind { return kindSend + requestKind(l) }

// sends reports whether a request is a message of ours.
func (r *request) sends() bool { return r.kind <= kindSyncSend }

// answer returns the flags of an eager message whose sender waits for an answer. A rendezvous
// has one in any case, when the peer has fetched the bytes: an acknowledged send is then as any other.
func (r *request) answer() wire.Flags {
	if r.kind == kindSyncSend {
		return wire.HasID | wire.Sync
	}
	return wire.HasID
}

// acknowledge tells the sender of a message that has been stored that we have it, if that is what it waits for.
func (e *Engine) acknowledge(p *peer, session uint32, h *wire.Header, n int) {
	if h.Flags&(wire.HasID|wire.Sync) == wire.HasID {
		e.settleSend(p, session, h.ID, uint32(n), wire.Taken)
	}
}
