package mx

import "gomx/endpoint"

// IrecvFrom is Irecv tied to a peer: if the session with src ends before a message has matched, the receive completes
// with the status that ended it, like a Watch: StatusEndpointClosed, StatusEndpointUnreachable, StatusTimeout, or
// StatusBadSession if the address is of an earlier session. Only the match information decides about matching: to
// receive messages of one peer only, its messages need bits of their own. If the session has ended already, messages
// that have arrived are received first, in order. A receive from the endpoint itself ends with the endpoint, or when it
// disconnects itself. SetRequestTimeout applies if it was called for the request itself; that of the endpoint does not,
// since no answer of the peer is outstanding. MX does not have it. Errors: those of Irecv, and ErrBadAddrList. Safe
// from any goroutine.
func (ep *Endpoint) IrecvFrom(buf []byte, src EndpointAddr, matchRecv, matchMask uint64, context any) (Request, error) {
	if src.ep != ep {
		return ep.notFrom(src, ep.owns(src))
	}
	h, err := ep.d.Recv(&endpoint.Posting{First: buf, Value: matchRecv, Mask: matchMask, Context: context}, &endpoint.RecvOptions{Tied: true, From: src.a})
	if err != nil {
		return ep.notFrom(src, err)
	}
	return Request{ep, h}, nil
}

// notFrom is the outcome of an IrecvFrom that has posted nothing.
func (ep *Endpoint) notFrom(src EndpointAddr, err error) (Request, error) {
	return Request{}, ep.fail("irecv from", src.String(), err)
}

// RecvNow is IrecvFrom for a caller that would wait at once and needs no more of the status than the length: it polls
// for a short time for the message. If the request is zero, the message has been received wholly, and has n bytes.
// Otherwise the request is that of IrecvFrom, and may be complete already: Wait waits for it, or returns how it has
// ended. MX does not have it. Errors: those of IrecvFrom; and that of Status.Err for a message that was not received wholly, or if
// the session has ended without one, in which cases there is no request. Safe from any goroutine.
func (ep *Endpoint) RecvNow(buf []byte, src EndpointAddr, matchRecv, matchMask uint64) (n int, r Request, err error) {
	if src.ep != ep {
		return 0, Request{}, ep.fail("recv now", src.String(), ep.owns(src))
	}
	n, h, err := ep.d.RecvNow(&endpoint.Posting{First: buf, Value: matchRecv, Mask: matchMask}, src.a)
	if h == 0 && err == nil {
		return n, Request{}, nil
	}
	return ep.received(src, h, err)
}

// received is the rest of RecvNow, for a message that has not come in the moment after, or in another way.
func (ep *Endpoint) received(src EndpointAddr, h endpoint.Handle, err error) (int, Request, error) {
	if err != nil {
		return 0, Request{}, ep.fail("recv now", src.String(), err)
	}
	var got endpoint.Status
	if done, err := ep.d.Test(h, &got); !done || err != nil {
		return 0, Request{ep, h}, nil
	}
	if got.Code == endpoint.Success {
		return int(got.XferLength), Request{}, nil
	}
	st := ep.status(&got)
	return 0, Request{}, st.Err()
}

// IrecvvFrom is IrecvFrom into segments, as Irecvv is Irecv into segments.
func (ep *Endpoint) IrecvvFrom(segs [][]byte, src EndpointAddr, matchRecv, matchMask uint64, context any) (Request, error) {
	if src.ep != ep {
		return ep.notFrom(src, ep.owns(src))
	}
	first, rest := cut(segs)
	h, err := ep.d.Recv(&endpoint.Posting{First: first, Value: matchRecv, Mask: matchMask, Context: context}, &endpoint.RecvOptions{Rest: rest, Tied: true, From: src.a})
	if err != nil {
		return ep.notFrom(src, err)
	}
	return Request{ep, h}, nil
}
