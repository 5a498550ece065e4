package mx

// IrecvFrom is Irecv tied to a peer: if the session with src ends before a message has
// matched, the receive completes with the status that ended it, as a Watch does:
// StatusEndpointClosed, StatusEndpointUnreachable, StatusTimeout, or StatusBadSession
// if the address was of an earlier session. Matching is by the bits alone: a
// receive for the messages of one peer needs bits that tell them. If the session is over
// already, what has arrived is received first, in its order. A receive from the endpoint
// itself ends with the endpoint. SetRequestTimeout bounds it like a send. MX does not
// have it. Errors: those of Irecv, and ErrBadAddrList. Safe from any goroutine.
func (ep *Endpoint) IrecvFrom(buf []byte, src EndpointAddr, matchRecv, matchMask uint64, context any) (Request, error) {
	if src.ep != ep {
		return Request{}, ep.fail("irecv from", src.String(), ep.owns(src))
	}
	h, err := ep.d.RecvOneFrom(buf, src.a, matchRecv, matchMask, context)
	if err != nil {
		return Request{}, ep.fail("irecv from", src.String(), err)
	}
	return Request{ep, h}, nil
}

// IrecvvFrom is IrecvFrom into segments, as Irecvv is Irecv into segments.
func (ep *Endpoint) IrecvvFrom(segs [][]byte, src EndpointAddr, matchRecv, matchMask uint64, context any) (Request, error) {
	if src.ep != ep {
		return Request{}, ep.fail("irecv from", src.String(), ep.owns(src))
	}
	h, err := ep.d.RecvFrom(vec(segs), src.a, matchRecv, matchMask, context)
	if err != nil {
		return Request{}, ep.fail("irecv from", src.String(), err)
	}
	return Request{ep, h}, nil
}
