package mx

// Watch makes a request that stays pending as long as the session with a peer lives,
// and completes with the status that ended it: StatusEndpointClosed,
// StatusEndpointUnreachable, StatusTimeout, or StatusBadSession if the address was of
// an earlier session. No message is sent for it, and it has no timeout unless
// SetRequestTimeout gives it one. Of the endpoint itself it ends with the endpoint, or when that disconnects itself. It
// is collected like others, by the match information that it is given, and Cancel takes
// it back. MX does not have it. Errors: ErrBadAddrList, ErrBadEndpoint. Safe from any
// goroutine.
func (ep *Endpoint) Watch(peer EndpointAddr, matchInfo uint64, context any) (Request, error) {
	if peer.ep != ep {
		return Request{}, ep.fail("watch", peer.String(), ep.owns(peer))
	}
	h, err := ep.d.Watch(peer.a, matchInfo, context)
	if err != nil {
		return Request{}, ep.fail("watch", peer.String(), err)
	}
	return Request{ep, h}, nil
}
