package mx

import "gomx/endpoint"

// IrecvDirected is Irecv for messages of src alone (a directed receive of OFI): others don't match it, whatever their match information. It
// stands among the receives of the endpoint in its turn, and takes messages of src in the order in which they were sent. tied has it end
// with the session, as IrecvFrom says; without, it waits on, and takes what src sends in a later session, too: a message from the same
// NIC and endpoint id. An endpoint that has posted such a receive takes all small messages on a somewhat slower path from
// then on, and looks through its unexpected messages one by one for those of src. MX does not have it. Errors: those of Irecv, and ErrBadAddrList. Safe from any goroutine.
func (ep *Endpoint) IrecvDirected(buf []byte, src EndpointAddr, tied bool, matchRecv, matchMask uint64, context any) (Request, error) {
	return ep.recvDirected(src, &endpoint.Posting{First: buf, Value: matchRecv, Mask: matchMask, Context: context}, &endpoint.RecvOptions{Tied: tied})
}

// IrecvvDirected is IrecvDirected into segments, as Irecvv is Irecv into segments.
func (ep *Endpoint) IrecvvDirected(segs [][]byte, src EndpointAddr, tied bool, matchRecv, matchMask uint64, context any) (Request, error) {
	first, rest := cut(segs)
	return ep.recvDirected(src, &endpoint.Posting{First: first, Value: matchRecv, Mask: matchMask, Context: context}, &endpoint.RecvOptions{Rest: rest, Tied: tied})
}

func (ep *Endpoint) recvDirected(src EndpointAddr, i *endpoint.Posting, opts *endpoint.RecvOptions) (Request, error) {
	if src.ep != ep {
		return Request{}, ep.fail("irecv directed from", src.String(), ep.owns(src))
	}
	opts.From = src.a
	h, err := ep.d.RecvDirected(i, opts)
	if err != nil {
		return Request{}, ep.fail("irecv directed from", src.String(), err)
	}
	return Request{ep, h}, nil
}
