package driver

import (
	"gomx/endpoint"
	"gomx/transport"
	"gomx/transport/wire"
)

// What says what has happened.
type What uint8

// What there is to tell: the notes of the engine, and what ports say.
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
	RefusedStranger = NotReached + 1 // a handshake was refused; nobody knows whose
)

// Happening is something that people may want to know.
type Happening struct {
	What      What
	Peer      transport.Address // zero: nobody knows
	Contexts  wire.Contexts     // that the peer has said it has
	Transport string            // of the peer's link; "" if it has none
	Code      endpoint.Code     // Ended, TurnedDown: how
	Cause     error             // why, or why transports that are preferred to this one were not taken; nil: not known
}

// observe tells what the engine has noted. The lock is held.
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
