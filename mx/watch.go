package mx

import "gomx/endpoint"

// Watch makes a request that stays pending as long as the session with a peer lives,
// and completes with the status that ended it: StatusEndpointClosed,
// StatusEndpointUnreachable, StatusTimeout, or StatusBadSession if the address was of
// an earlier session. No message is sent for it, and it has no timeout unless
// SetRequestTimeout gives it one. Of the endpoint itself it ends with the endpoint, or when that disconnects itself. It
// is collected like others, by the match information that it is given, and Cancel cancels
// it. MX does not have it. Errors: ErrBadAddrList, ErrBadEndpoint. Safe from any
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

// GiveUp ends the session with a peer that the caller knows by other means to have failed or to stand still, as if the
// request timeout had passed: all requests tied to the peer complete with StatusTimeout, and the address is invalid.
// Messages that have arrived completely can still be received, and messages that are still arriving may complete: the
// session ends within a second after the last of them, within six seconds in any case, and at once if this endpoint connects to the peer again. What is started towards
// the peer meanwhile completes with StatusTimeout at once. Of endpoints with several contexts all are given up. The endpoint's own address is never given up. MX does not have
// it. Errors: ErrBadAddrList, ErrBadEndpoint. Safe from any goroutine, also where SingleThreaded is set.
func (ep *Endpoint) GiveUp(peer EndpointAddr) error {
	err := ep.owns(peer)
	if err == nil {
		err = ep.eachSession(peer, func(own *Endpoint, to endpoint.Addr) error { return own.d.GiveUp(to) })
	}
	if err != nil {
		return ep.fail("give up", peer.String(), err)
	}
	return nil
}
