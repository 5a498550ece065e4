package mx

import "gomx/endpoint"

// Irecv posts a receive into buf for the first message whose match information, masked with matchMask, is matchRecv
// (II.4, V.2.1): the oldest one that has arrived, or else the next one. Of several receives that match, the one posted
// first gets the message. buf must not be touched until the request completes. A longer message is truncated, with
// StatusTruncated.
//
// Errors: ErrBadMatchMask if matchRecv has bits outside the mask, ErrBadMatchingForCtxID, ErrBadEndpoint,
// ErrNoResources. Safe from any goroutine.
func (ep *Endpoint) Irecv(buf []byte, matchRecv, matchMask uint64, context any) (Request, error) {
	return ep.recv(&endpoint.Posting{First: buf, Value: matchRecv, Mask: matchMask, Context: context}, nil)
}

// Irecvv is Irecv into up to MaxSegments segments, filled one after the other;
// empty ones are skipped. They need not be cut as the sender's are. What happens
// to segments that overlap is undefined. The list may be changed as soon as the
// call returns. More segments are ErrBadSegCount.
func (ep *Endpoint) Irecvv(segs [][]byte, matchRecv, matchMask uint64, context any) (Request, error) {
	first, rest := cut(segs)
	return ep.recv(&endpoint.Posting{First: first, Value: matchRecv, Mask: matchMask, Context: context}, &endpoint.RecvOptions{Rest: rest})
}

func (ep *Endpoint) recv(i *endpoint.Posting, opts *endpoint.RecvOptions) (Request, error) {
	h, err := ep.d.Recv(i, opts)
	if err != nil {
		return Request{}, ep.fail("irecv", "", err)
	}
	return Request{ep, h}, nil
}
