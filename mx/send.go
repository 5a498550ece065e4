package mx

import (
	"gomx/endpoint"
	"gomx/transport/wire"
)

// Request names an asynchronous operation of one endpoint (II.6). It is a value;
// the zero Request is never valid, and one that was collected, cancelled or
// forgotten is refused with ErrBadRequest for ever.
type Request struct {
	ep *Endpoint
	h  endpoint.Handle
}

// IsZero reports whether r is the zero Request.
func (r Request) IsZero() bool { return r.h == 0 }

// Endpoint returns the endpoint on which the request was posted; nil for the zero Request.
func (r Request) Endpoint() *Endpoint { return r.ep }

// Number returns a number for r, which is 0 for the zero Request: what a program keeps that has many
// requests, and knows their endpoint. MX does not have it.
func (r Request) Number() uint64 { return uint64(r.h) }

// Request returns the request of the endpoint that has this Number. MX does not have it.
func (ep *Endpoint) Request(number uint64) Request { return Request{ep, endpoint.Handle(number)} }

// Isend starts a standard send of buf (V.1.1). It completes as soon as buf may be reused, which does not mean that the
// message was received; with WithSendLevel, when it has arrived or matched. Until then buf must not change, unless
// Ibuffered says that it may. The context is returned in the status.
//
// If the session with the peer ends, the request completes with a status that says why. Errors: ErrBadAddrList,
// ErrBadEndpoint, ErrBadSegMem, ErrNoResources. Safe from any goroutine.
func (ep *Endpoint) Isend(buf []byte, dest EndpointAddr, matchSend uint64, context any) (Request, error) {
	return ep.send(dest.ep, &endpoint.Outgoing{First: buf, To: dest.a, Match: matchSend, Context: context}, &ep.options)
}

// SendNow sends buf like Isend if that is possible at once: a small message to a peer with no queued operations. If it
// returns true, the message was sent or buffered, buf may be reused, and there is no request to collect. If it returns
// false, nothing was sent: Isend queues the message, or returns the reason as an error. MX does not have it. Safe from
// any goroutine.
func (ep *Endpoint) SendNow(buf []byte, dest EndpointAddr, matchSend uint64) bool {
	return dest.ep == ep && ep.d.SendNow(buf, dest.a, matchSend)
}

// Issend starts a synchronous send of buf (V.1.2): it completes only when a
// receive has matched the message. It may be buffered before; see Ibuffered.
// Otherwise it is as Isend.
func (ep *Endpoint) Issend(buf []byte, dest EndpointAddr, matchSend uint64, context any) (Request, error) {
	return ep.send(dest.ep, &endpoint.Outgoing{First: buf, To: dest.a, Match: matchSend, Context: context}, &endpoint.SendOptions{Level: endpoint.Matched})
}

// Isendv is Isend of the bytes of up to MaxSegments segments, one after the
// other; empty ones are skipped. The list may be changed as soon as the call
// returns, the bytes not. More segments are ErrBadSegCount.
func (ep *Endpoint) Isendv(segs [][]byte, dest EndpointAddr, matchSend uint64, context any) (Request, error) {
	return ep.sendSegments(segs, dest, matchSend, ep.options.Level, context)
}

// Issendv is Issend of a segment list; see Isendv.
func (ep *Endpoint) Issendv(segs [][]byte, dest EndpointAddr, matchSend uint64, context any) (Request, error) {
	return ep.sendSegments(segs, dest, matchSend, endpoint.Matched, context)
}

// sendSegments is Isendv at a level.
func (ep *Endpoint) sendSegments(segs [][]byte, dest EndpointAddr, match uint64, level endpoint.Level, context any) (Request, error) {
	first, rest := cut(segs)
	return ep.send(dest.ep, &endpoint.Outgoing{First: first, To: dest.a, Match: match, Context: context}, &endpoint.SendOptions{Rest: rest, Level: level})
}

// send starts a send to a peer whose address is one of the endpoint named owner.
func (ep *Endpoint) send(owner *Endpoint, o *endpoint.Outgoing, opts *endpoint.SendOptions) (Request, error) {
	if owner != ep {
		dest := EndpointAddr{owner, o.To}
		return Request{}, ep.failSend(dest, opts, ep.owns(dest))
	}
	h, err := ep.d.Send(o, opts)
	if err != nil {
		return Request{}, ep.failSend(EndpointAddr{ep, o.To}, opts, err)
	}
	return Request{ep, h}, nil
}

func (ep *Endpoint) failSend(dest EndpointAddr, opts *endpoint.SendOptions, err error) error {
	return ep.fail(sendLevels[opts.Level].op, dest.String(), err)
}

// vec makes a gather list. It keeps segs itself; the engine copies it if it has
// to.
func vec(segs [][]byte) wire.Vec {
	first, rest := cut(segs)
	return wire.Vec{First: first, Rest: rest}
}

// cut returns the first segment and the others.
func cut(segs [][]byte) (first []byte, rest [][]byte) {
	if len(segs) == 0 {
		return nil, nil
	}
	return segs[0], segs[1:]
}
