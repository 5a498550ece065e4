package driver

import (
	"gomx/endpoint"
	"gomx/transport"
	"gomx/transport/wire"
)

// What is the kind of a Happening.
type What uint8

// The kinds are those of the engine's notes, and two that ports report.
const (
	Connected       = What(endpoint.Connected)
	Ended           = What(endpoint.SessionEnded)
	Broken          = What(endpoint.Broken)
	Resumed         = What(endpoint.Resumed)
	RefusedPeer     = What(endpoint.RefusedPeer)
	BackPressure    = What(endpoint.BackPressure)
	FellBack        = What(endpoint.FellBack)
	TurnedDown      = What(endpoint.TurnedDown)
	NotReached      = TurnedDown + 1 // no transport has reached the peer
	RefusedStranger = NotReached + 1 // a handshake was refused before the peer had proved who it is
)

// Happening is an event for the log.
type Happening struct {
	What      What
	Peer      transport.Address // zero: not known
	Contexts  wire.Contexts     // that the peer has said it has
	Transport string            // of the peer's link; "" if it has none
	Code      endpoint.Code     // Ended, TurnedDown: how the session ended
	Cause     error             // why it happened, or why preferred transports were not taken; nil: not known
}

// observe logs a note of the engine. The lock is held.
func (d *Endpoint) observe(n endpoint.Note) {
	var cause error
	if r := d.routes[n.Peer]; r != nil {
		cause = r.failure
		if n.Kind == endpoint.Connected {
			cause = r.instead
		}
	}
	d.tell(What(n.Kind), n.Peer, n.Code, cause)
}

func (d *Endpoint) tell(what What, peer int32, code endpoint.Code, cause error) {
	if d.log == nil {
		return
	}
	h := Happening{What: what, Transport: d.eng.MediumName(peer), Code: code, Cause: cause}
	h.Contexts = d.eng.ContextsOfPeer(peer)
	h.Peer.NIC, h.Peer.Endpoint = d.eng.PeerAddress(peer)
	d.log(h)
}
