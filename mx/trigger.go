package mx

import (
	"fmt"

	"gomx/endpoint"
	"gomx/transport/wire"
)

// Trigger is the moment at which a completion counter has counted a number of successes. The operations that are started
// on it, triggered operations (FI_TRIGGER of OFI), begin by themselves at that moment: whoever makes progress on the
// endpoint begins them, its own goroutine too while the program computes. So a program can prepare whole patterns of
// messages, such as a barrier or a broadcast tree, which then run without a call of it. MX does not have it.
//
// A triggered operation is a request as any other. It can be counted, by the same or another counter, so that its
// completion triggers the next. Its bytes are read when it begins: a receive that is counted may bring the bytes that
// an operation sends which it triggers. At(n) stands for n completions, in whatever order they come: large receives may complete in another
// order than they were started in, so that each one whose bytes count needs a counter of its own. Operations of one trigger begin in the order in which they were started, those of
// smaller numbers first: start them in this order, for each one is put in its place from the end of those that wait. On a
// trigger that has come they begin at once.
//
// Only successes count: what waits for an operation that has failed does not begin. Pending, and with it
// mx_endpoint_info and the like, show it with the number of the counter, what that has come to, and what it has to come to. Until it begins, Cancel and
// Abandon cancel it; afterwards it is as other sends, puts, gets and atomic operations are. If the session with
// the peer ends, it completes with a status that says why; if the counter is closed, with StatusAborted. It has no
// timeout before it begins unless SetRequestTimeout gives it one.
//
// Trigger is a value, and its methods may be called from any goroutine, unless the endpoint was opened with SingleThreaded. Their errors are those of the methods of Endpoint of the same name;
// ErrBadEndpoint if the counter is closed; ErrBadRequest for the zero Trigger.
type Trigger struct {
	c  *CompletionCounter
	at uint64
}

// At returns the trigger of a number of successes, counted from the making of the counter. Failures don't count, unlike for Wait and
// Threshold: the trigger comes when Value gives that many successes or more, whatever the failures are.
func (c *CompletionCounter) At(successes uint64) Trigger { return Trigger{c, successes} }

// Increment counts so many successes that are no requests: what a program does itself takes part in a pattern of
// triggered operations by it. They have begun when it returns, but in a handler, and while progression is disabled, they begin at
// the next pass, behind what is started there without a trigger meanwhile. A counter is at its end when its successes and failures together are 1<<64 - 2, and stays
// there: what completes later is not counted. Error: ErrBadEndpoint if the counter or the endpoint is closed.
func (c *CompletionCounter) Increment(by uint64) error {
	return c.fail("increment counter", c.c.Increment(by))
}

// Number returns the number of the counter in the texts of Pending. It is that of no other counter or queue of the endpoint that is open.
func (c *CompletionCounter) Number() int { return c.c.Number() }

// Isend is Endpoint.Isend that begins at the trigger. SendLevel is the endpoint's.
func (t Trigger) Isend(buf []byte, dest EndpointAddr, matchSend uint64, context any) (Request, error) {
	var opts endpoint.SendOptions
	if t.c != nil {
		opts = t.c.ep.options
	}
	return t.send("triggered isend to", dest, &endpoint.Outgoing{First: buf, Match: matchSend, Context: context}, &opts)
}

// IsendLevel is Endpoint.IsendLevel that begins at the trigger. The list of segments may be changed as soon as the call returns.
func (t Trigger) IsendLevel(level SendLevel, segs [][]byte, dest EndpointAddr, matchSend uint64, context any) (Request, error) {
	if err := checkSendLevel(level); err != nil && t.c != nil {
		return Request{}, t.c.ep.fail("triggered isend to", dest.String(), fmt.Errorf("%w: %v: %w", ErrBadParamVal, level, err))
	}
	first, rest := cut(segs)
	return t.send("triggered isend to", dest, &endpoint.Outgoing{First: first, Match: matchSend, Context: context}, &endpoint.SendOptions{Rest: rest, Level: endpoint.Level(level)})
}

func (t Trigger) send(op string, dest EndpointAddr, o *endpoint.Outgoing, opts *endpoint.SendOptions) (Request, error) {
	if bad, err := t.refuses(op, dest); bad {
		return Request{}, err
	}
	o.To = dest.a
	h, err := t.c.c.SendAt(t.at, o, opts)
	return t.c.started(op, dest, h, err)
}

// Iput is Endpoint.Iput that begins at the trigger.
func (t Trigger) Iput(buf []byte, dest EndpointAddr, w WindowHandle, offset uint32, matchInfo uint64, context any) (Request, error) {
	if bad, err := t.refuses("triggered iput to", dest); bad {
		return Request{}, err
	}
	h, err := t.c.c.PutAt(t.at, wire.Vec{First: buf}, dest.a, w.ID, offset, matchInfo, context)
	return t.c.started("triggered iput to", dest, h, err)
}

// Iget is Endpoint.Iget that begins at the trigger.
func (t Trigger) Iget(buf []byte, src EndpointAddr, w WindowHandle, offset uint32, matchInfo uint64, context any) (Request, error) {
	if bad, err := t.refuses("triggered iget from", src); bad {
		return Request{}, err
	}
	h, err := t.c.c.GetAt(t.at, wire.Vec{First: buf}, src.a, w.ID, offset, matchInfo, context)
	return t.c.started("triggered iget from", src, h, err)
}

// Iatomic is Endpoint.Iatomic that begins at the trigger. One on a window of the endpoint itself makes no pass.
func (t Trigger) Iatomic(op AtomicOp, typ AtomicType, operands []byte, dest EndpointAddr, w WindowHandle, offset uint32, matchInfo uint64, context any) (Request, error) {
	return t.atomic("triggered iatomic on", atomicOf(op, typ, false), operands, dest, w, offset, matchInfo, context)
}

// IfetchAtomic is Endpoint.IfetchAtomic that begins at the trigger. One on a window of the endpoint itself makes no pass.
func (t Trigger) IfetchAtomic(op AtomicOp, typ AtomicType, buf []byte, dest EndpointAddr, w WindowHandle, offset uint32, matchInfo uint64, context any) (Request, error) {
	return t.atomic("triggered ifetchatomic on", atomicOf(op, typ, true), buf, dest, w, offset, matchInfo, context)
}

func (t Trigger) atomic(op string, a wire.AtomicWhat, b []byte, dest EndpointAddr, w WindowHandle, offset uint32, matchInfo uint64, context any) (Request, error) {
	if bad, err := t.refuses(op, dest); bad {
		return Request{}, err
	}
	h, err := t.c.c.AtomicAt(t.at, a, b, dest.a, w.ID, offset, matchInfo, context)
	if err != nil {
		err = unfit(a, b, offset, err)
	}
	return t.c.started(op, dest, h, err)
}

// refuses reports whether an operation can't be started, since there is no counter or the address is not one of its endpoint, and the
// error.
func (t Trigger) refuses(op string, dest EndpointAddr) (bool, error) {
	switch {
	case t.c == nil:
		return true, handle(nil, &Error{Op: op, Code: ErrBadRequest, Peer: dest.String(), Cause: fmt.Errorf("%w: the trigger is of no counter", ErrBadRequest)})
	case dest.ep != t.c.ep:
		return true, t.c.ep.fail(op, dest.String(), t.c.ep.owns(dest))
	}
	return false, nil
}

// started makes the request of an operation.
func (c *CompletionCounter) started(op string, peer EndpointAddr, h endpoint.Handle, err error) (Request, error) {
	if err != nil {
		return Request{}, c.failWith(op, peer.String(), err)
	}
	return Request{c.ep, h}, nil
}
