package mx

// EagerTo returns the largest message, in bytes, that goes to a peer eagerly: its data
// travels with its header, and its receiver's unexpected handler gets it. It depends on
// the medium. A peer whose buffer for unexpected messages is full makes it smaller for a
// while, which is not told. Without a link to the peer it is CopySendMax. MX does not
// have it. Errors: ErrBadAddrList,
// ErrBadEndpoint. Safe from any goroutine, and inside the unexpected handler.
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
