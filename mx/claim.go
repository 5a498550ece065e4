package mx

import (
	"context"
	"time"

	"gomx/endpoint"
	"gomx/transport/wire"
)

// Message is a message that Claim has taken out of matching: no receive, probe or other
// claim sees it. It is a value that copies of name the same message; the zero Message is
// never valid. IrecvMessage receives it. Until then it keeps its place in the bound of
// ParamUnexpQueueMax; one that is never received goes with the endpoint, or when the
// program disconnects from its sender.
type Message struct {
	ep *Endpoint
	c  endpoint.Claim
}

// IsZero reports whether m is the zero Message.
func (m Message) IsZero() bool { return m.c == 0 }

// Iclaim takes the oldest message that has arrived without a receive and whose match
// information, masked, is matchRecv: Iprobe and the taking in one step, so that several
// goroutines can each probe for a message, make room and receive it. MX does not have it.
// Error: ErrBadMatchMask. Safe from any goroutine.
func (ep *Endpoint) Iclaim(matchRecv, matchMask uint64) (m Message, st Status, found bool, err error) {
	return ep.Claim(noContext, 0, matchRecv, matchMask)
}

// Claim is Iclaim that blocks until there is such a message, until ctx ends, whose error it then returns, or until the
// timeout has passed. ctx may be nil. Safe from any goroutine.
func (ep *Endpoint) Claim(ctx context.Context, timeout time.Duration, matchRecv, matchMask uint64) (m Message, st Status, found bool, err error) {
	var got endpoint.Status
	c, found, err := ep.d.Claim(ctx, matchRecv, matchMask, timeout, &got)
	if !found {
		return m, st, false, ep.failWait(ctx, "claim", err)
	}
	return Message{ep, c}, ep.status(&got), true, nil
}

// IrecvMessage receives a claimed message into buf, as Irecv does. If the session of the
// sender has ended, a message whose bytes are here is received all the same; the request
// of another one completes with the status that ended it, or with StatusBadSession if the
// sender has opened a new session meanwhile. MX does not have it. Errors:
// ErrBadRequest if m is zero, another endpoint's, received already or gone;
// ErrBadEndpoint. Safe from any goroutine.
func (ep *Endpoint) IrecvMessage(buf []byte, m Message, context any) (Request, error) {
	return ep.receiveMessage(wire.Vec{First: buf}, m, context)
}

// Discard receives all messages that have arrived without a receive and whose match information, masked, is matchRecv, and
// drops their bytes; it returns how many they were. A sender that waits to be received goes on, as if its message had been
// truncated to nothing. Discard makes no progress: what is still on its way is not dropped. Claimed messages stay. MX does not have it.
// Errors: ErrBadMatchMask, ErrBadEndpoint. Safe from any goroutine.
func (ep *Endpoint) Discard(matchRecv, matchMask uint64) (count int, err error) {
	count, err = ep.d.Discard(matchRecv, matchMask)
	return count, ep.fail("discard", "", err)
}

// IrecvvMessage is IrecvMessage into segments, as Irecvv is Irecv into segments.
func (ep *Endpoint) IrecvvMessage(segs [][]byte, m Message, context any) (Request, error) {
	return ep.receiveMessage(vec(segs), m, context)
}

func (ep *Endpoint) receiveMessage(v wire.Vec, m Message, context any) (Request, error) {
	if m.ep != ep {
		return Request{}, ep.fail("irecv message", "", ErrBadRequest)
	}
	h, err := ep.d.RecvClaimed(v, m.c, context)
	if err != nil {
		return Request{}, ep.fail("irecv message", "", err)
	}
	return Request{ep, h}, nil
}
