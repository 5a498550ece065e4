package mx

// EagerTo returns the largest message, in bytes, that is sent eagerly to a peer: header and data together, so that the
// receiver's unexpected handler gets the data. It depends on the transport. What a sender has credit for is not included: it is less while the
// peer's buffer for unexpected messages is full, and at the beginning of a session, when it is what MX_UNEXP_RESERVE of the peer gives to everyone. Without a link to the peer it is CopySendMax. MX does
// not have it. Errors: ErrBadAddrList, ErrBadEndpoint. Safe from any goroutine, and inside the unexpected handler.
func (ep *Endpoint) EagerTo(peer EndpointAddr) (int, error) {
	if peer.ep != ep {
		return 0, ep.fail("eager to", peer.String(), ep.owns(peer))
	}
	n, err := ep.d.EagerTo(peer.a)
	switch {
	case err != nil:
		return 0, ep.fail("eager to", peer.String(), err)
	case n < 0:
		return int(copySendMax()), nil
	}
	return n, nil
}
