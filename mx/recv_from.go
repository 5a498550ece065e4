package mx

import (
	"gomx/endpoint"
	"gomx/transport/wire"
)

// IrecvFrom is Irecv tied to a peer: if the session with src ends before a message has
// matched, the receive completes with the status that ended it, as a Watch does:
// StatusEndpointClosed, StatusEndpointUnreachable, StatusTimeout, or StatusBadSession
// if the address was of an earlier session. Matching is by the bits alone: a
// receive for the messages of one peer needs bits that tell them. If the session is over
// already, what has arrived is received first, in its order. A receive from the endpoint
// itself ends with the endpoint, or when that disconnects itself. SetRequestTimeout bounds it if it is set for the request
// itself; that of the endpoint does not, since the peer is not expected to answer. MX does not
// have it. Errors: those of Irecv, and ErrBadAddrList. Safe from any goroutine.
func (ep *Endpoint) IrecvFrom(buf []byte, src EndpointAddr, matchRecv, matchMask uint64, context any) (Request, error) {
	return ep.recvFrom(src, &endpoint.Posting{Into: wire.Vec{First: buf}, Value: matchRecv, Mask: matchMask, Context: context})
}

// RecvNow is IrecvFrom for a caller who would wait at once, and for whom it is enough to know how long the
// message is: it looks for a moment whether the message comes. If the request is zero, the message has come whole,
// and has n bytes. Otherwise the request is as IrecvFrom's, and may be
// complete already: Wait is the call that waits, or says how the receive has ended. MX does not have it. Errors: those of
// IrecvFrom; of a message that was received in another way than whole, that of Status.Err, and
// there is no request. Safe from any goroutine.
func (ep *Endpoint) RecvNow(buf []byte, src EndpointAddr, matchRecv, matchMask uint64) (n int, r Request, err error) {
	if src.ep != ep {
		return 0, Request{}, ep.fail("recv now", src.String(), ep.owns(src))
	}
	n, h, err := ep.d.RecvNow(&endpoint.Posting{Into: wire.Vec{First: buf}, Value: matchRecv, Mask: matchMask, Tied: true, From: src.a})
	if h == 0 && err == nil {
		return n, Request{}, nil
	}
	return ep.received(src, h, err)
}

// ExchangeNow is SendNow of out, and if that has sent, RecvNow into in: what two peers do who exchange messages
// at the same time. sent reports whether it has; the other results are then RecvNow's. Safe from any goroutine.
func (ep *Endpoint) ExchangeNow(out []byte, dest EndpointAddr, matchSend uint64, in []byte, src EndpointAddr, matchRecv, matchMask uint64) (sent bool, n int, r Request, err error) {
	if dest.ep != ep || src.ep != ep {
		return false, 0, Request{}, nil
	}
	sent, n, h, err := ep.d.ExchangeNow(out, dest.a, matchSend, &endpoint.Posting{Into: wire.Vec{First: in}, Value: matchRecv, Mask: matchMask, Tied: true, From: src.a})
	if !sent || h == 0 && err == nil {
		return sent, n, Request{}, nil
	}
	n, r, err = ep.received(src, h, err)
	return true, n, r, err
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
	return ep.recvFrom(src, &endpoint.Posting{Into: vec(segs), Value: matchRecv, Mask: matchMask, Context: context})
}

func (ep *Endpoint) recvFrom(src EndpointAddr, i *endpoint.Posting) (Request, error) {
	if src.ep != ep {
		return Request{}, ep.fail("irecv from", src.String(), ep.owns(src))
	}
	i.Tied, i.From = true, src.a
	h, err := ep.d.Recv(i)
	if err != nil {
		return Request{}, ep.fail("irecv from", src.String(), err)
	}
	return Request{ep, h}, nil
}
