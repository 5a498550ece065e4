package mx

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/internal/ended"
	"gomx/transport"
	"gomx/transport/nic"
	"gomx/transport/wire"
)

// Causes of ErrConnectionFailed, for errors.Is. Its text has the details.
var (
	ErrNoPeer  error = noPeer  // the host answers, and no such endpoint is open there
	ErrRefused error = refused // the peer refuses the connection: it has another secret, TLS or no TLS, or another version
)

// noPeer and refused are what transports say.
var noPeer, refused = transport.ErrNoPeer, transport.ErrRefused

// Connect asks the endpoint at a NIC whether it takes us with this filter, and
// returns its address (IV.3.1). If one of the two sides has several contexts (WithContexts), each of the one is connected with
// each of the other, and the address is that of the first. It blocks for the timeout at most, and goes on trying
// until then if the peer is there but does not answer.
//
// Errors: ErrNICNotFound (no way to that NIC is known), ErrConnectionFailed (no
// such endpoint is open there, or it can't be reached, or refuses us, its program too, a RejectedError, or is full of
// messages of our former sessions, which it must receive first, or has disconnected while its contexts were being connected; the text says which,
// and has each address that was tried), ErrBadConnectionKey (it has another filter),
// ErrBadEndpointID, ErrTimeout, ErrNoResources (this process has no file descriptor left),
// ErrBadEndpoint (ours is closed). Safe from any
// goroutine.
func (ep *Endpoint) Connect(nicID uint64, endpointID, filter uint32, timeout time.Duration) (EndpointAddr, error) {
	addr, _, err := ep.connect(noContext, calling(nicID, endpointID, filter), timeout)
	return addr, err
}

// ConnectContext is Connect until ctx ends. Its error then wraps ctx's, and does not call
// the error handler.
func (ep *Endpoint) ConnectContext(ctx context.Context, nicID uint64, endpointID, filter uint32) (EndpointAddr, error) {
	addr, _, err := ep.connect(ctx, calling(nicID, endpointID, filter), Infinite)
	return addr, err
}

// calling is a connect that carries no data, and has room for that of a refusal.
func calling(nicID uint64, endpointID, filter uint32) *endpoint.Calling {
	return &endpoint.Calling{NIC: nicID, Endpoint: endpointID, Filter: filter, Answer: make([]byte, MaxConnectData)}
}

// connect follows a board that answers under another NIC id than the one asked for,
// as one does that is asked for by another of its addresses. It returns what the program at the peer has answered, too.
func (ep *Endpoint) connect(ctx context.Context, c *endpoint.Calling, timeout time.Duration) (EndpointAddr, []byte, error) {
	began, asked, nicID := time.Now(), nic.ID(c.NIC), c.NIC
	target := ep.dir.Actual(asked)
	was := ep.connectedTo(target, c.Endpoint)
	st, code, cause := ep.connectTo(ctx, target, c, timeout)
	if ep.isElsewhere(asked, target, cause) {
		st, code, cause = ep.connectTo(ctx, ep.dir.Actual(asked), c, left(timeout, began))
	}
	var e *Error
	if code != Success {
		e = ep.connectError(nicID, c.Endpoint, code, cause)
	} else if e = ep.connectRest(ctx, st.Source, c.Filter, c.Data, left(timeout, began)); e == nil {
		return st.Source, c.Answer[:st.XferLength], nil
	} else if !was {
		_ = ep.disconnectAll(st.Source) // nobody gets its address
	}
	if ended.By(ctx, e.Cause) {
		return EndpointAddr{}, nil, e
	}
	return EndpointAddr{}, nil, handle(ep.onError, e)
}

// connectedTo reports whether there is a session with an endpoint.
func (ep *Endpoint) connectedTo(to nic.ID, endpointID uint32) (is bool) {
	ep.d.Query(func(e *endpoint.Engine) { _, is = e.ConnectedWith(uint64(to), endpointID) })
	return is
}

// left is what is left of a timeout.
func left(timeout time.Duration, began time.Time) time.Duration {
	if timeout == Infinite {
		return Infinite
	}
	return max(0, timeout-time.Since(began))
}

// isElsewhere reports whether a board that was asked for under one id has answered under another, which is known now.
func (ep *Endpoint) isElsewhere(asked, target nic.ID, cause error) bool {
	_, other := errors.AsType[*transport.WrongPeerError](cause)
	return other && ep.dir.Actual(asked) != target
}

// startPrivate starts a connect that only who has its request collects.
func (ep *Endpoint) startPrivate(to nic.ID, c *endpoint.Calling) (Request, ReturnCode, error) {
	c.NIC = uint64(to)
	return ep.startConnect(to, c.Endpoint, func() (endpoint.Handle, error) { return ep.d.Call(c, true) })
}

// connectTo connects once. Success, or what went wrong.
func (ep *Endpoint) connectTo(ctx context.Context, to nic.ID, c *endpoint.Calling, timeout time.Duration) (Status, ReturnCode, error) {
	r, code, cause := ep.startPrivate(to, c)
	if code != Success {
		return Status{}, code, cause
	}
	began := time.Now()
	st, done, err := ep.wait(ctx, r, timeout)
	asked := !done && ep.d.UnderReview(uint64(to), c.Endpoint)
	if !done {
		var late endpoint.Status
		if fate, abandonErr := ep.d.Abandon(r.h, &late); abandonErr == nil && fate == endpoint.FateEnded { // just now
			st.fill(ep, &late)
			done, err = true, nil
		}
	}
	if done {
		code, cause = ep.outcome(&st, to, c)
	} else {
		code, cause = ep.unended(&vain{err, timeout, time.Since(began), asked, to, c.Endpoint})
	}
	return st, code, cause
}

// vain is a connect whose wait has ended before it.
type vain struct {
	err        error         // of the wait; nil: the timeout has passed, or Wakeup was called
	timeout    time.Duration // of the connect
	waited     time.Duration
	asked      bool // the program there knows of it, and has not accepted or rejected it
	to         nic.ID
	endpointID uint32
}

// unended is what a connect in vain came to.
func (ep *Endpoint) unended(v *vain) (ReturnCode, error) {
	if errors.Is(v.err, driver.ErrClosed) {
		return ErrBadEndpoint, nil
	}
	return ErrTimeout, ep.timeoutCause(v)
}

// outcome is what a connect that has ended came to.
func (ep *Endpoint) outcome(st *Status, to nic.ID, c *endpoint.Calling) (ReturnCode, error) {
	switch st.Code {
	case StatusSuccess:
		return Success, nil
	case StatusBadKey:
		return ErrBadConnectionKey, fmt.Errorf("ours is %#x: give OpenEndpoint and Connect the same one on both sides", c.Filter)
	case StatusRejected, StatusNotAnswered, StatusBacklogFull, StatusNotListening:
		return ErrConnectionFailed, &RejectedError{Code: st.Code, Data: c.Answer[:st.XferLength]}
	case StatusTimeout:
		return ErrTimeout, ep.d.Reason(uint64(to), c.Endpoint)
	case StatusBadEndpoint:
		return ErrBadEndpointID, nil
	case StatusNoResources:
		return ErrConnectionFailed, fmt.Errorf("%w at the peer: it is full of messages of former sessions "+
			"of this endpoint, and must receive them first, or raise its limits (MX_UNEXP_BYTES, MX_UNEXP_HEADERS)", st.Code)
	}
	reason := ep.d.Reason(uint64(to), c.Endpoint)
	switch {
	case reason == nil:
		return ErrConnectionFailed, st.Code
	case errors.Is(reason, transport.ErrNoRoute):
		return ErrNICNotFound, reason
	case errors.Is(reason, transport.ErrNoDescriptors):
		return ErrNoResources, reason
	case errors.Is(reason, transport.ErrNoPeer):
		return ErrConnectionFailed, &withStatus{fmt.Errorf("%w; start the other side first, or check its endpoint id", reason), st.Code}
	}
	return ErrConnectionFailed, reason
}

// standstill says why the endpoint itself makes no progress, or returns nil if it does.
func (ep *Endpoint) standstill() (why error) {
	if ep.d.InHandler() {
		return errors.New("in a handler nothing progresses: connect in another goroutine")
	}
	ep.d.Query(func(e *endpoint.Engine) {
		if e.Paused() {
			why = errors.New("the progression of the endpoint is off: ReenableProgression first")
		}
	})
	return why
}

// timeToAnswer is how long a peer may take to answer that is well.
const timeToAnswer = 100 * time.Millisecond

// deaf is what may be the matter with a peer that does not answer.
const deaf = "its process may be stopped, very busy, or out of file descriptors (ulimit -n), or a firewall may be in the way"

// timeoutCause says why a connect has not ended, with what the last attempt came to.
func (ep *Endpoint) timeoutCause(v *vain) error {
	err, timeout := v.err, v.timeout
	if why := ep.standstill(); why != nil {
		if err != nil {
			return &instead{err.Error() + ": " + why.Error(), err}
		}
		return why
	}
	switch reason := ep.d.Reason(uint64(v.to), v.endpointID); {
	case err == nil && v.waited < timeout:
		return errors.New("woken up")
	case v.asked && err != nil:
		return &instead{fmt.Sprintf("%v: the program there has not accepted or rejected it", err), err}
	case v.asked:
		return fmt.Errorf("the program there has not accepted or rejected it within %v", timeout)
	case err != nil && reason != nil:
		return &instead{fmt.Sprintf("%v: no answer: %v", err, reason), err}
	case err != nil && v.waited < timeToAnswer:
		return &instead{fmt.Sprintf("%v: no answer yet, %v after the call", err, v.waited.Round(time.Microsecond)), err}
	case err != nil:
		return &instead{fmt.Sprintf("%v: no answer: %s", err, deaf), err}
	case errors.Is(reason, transport.ErrPeerDied): // each time that it was dialled
		return fmt.Errorf("no answer within %v, though it accepts connections, and may be out of file descriptors (ulimit -n): %w",
			timeout, reason)
	case reason != nil:
		return fmt.Errorf("no answer within %v: %w", timeout, reason)
	case timeout < timeToAnswer:
		return fmt.Errorf("no answer within %v, which may be too short", timeout)
	}
	return fmt.Errorf("no answer within %v: %s", timeout, deaf)
}

func (ep *Endpoint) connectError(nicID uint64, endpointID uint32, code ReturnCode, cause error) *Error {
	return &Error{Op: "connect to", Code: code, Endpoint: ep.String(), Peer: peerName(ep.dir, nicID, endpointID, wire.Contexts{}), Cause: cause}
}

// Iconnect starts a connect (IV.3.2). The request completes with StatusSuccess
// and the address in Status.Source, or with StatusBadKey, StatusRejected and the like (see IconnectWith), StatusEndpointClosed,
// StatusEndpointUnreachable, StatusTimeout or StatusNoResources: the peer is full of
// messages of former sessions of this endpoint, and must receive them first. The match
// information serves TestAny and WaitAny only. Errors: ErrNICNotFound, ErrBadEndpointID,
// ErrBadEndpoint. Safe from any goroutine.
//
// A host that is asked for by another address than its NIC id comes from, such as
// IPv6 where it has IPv4, may be unreachable the first time. From then on its id is
// known, and Iconnect leads there. Connect does both. Contexts are not connected: ConnectContexts does that.
func (ep *Endpoint) Iconnect(nicID uint64, endpointID, filter uint32, matchInfo uint64, context any) (Request, error) {
	return ep.iconnect(&endpoint.Calling{NIC: nicID, Endpoint: endpointID, Filter: filter, Match: matchInfo, Context: context})
}

func (ep *Endpoint) iconnect(c *endpoint.Calling) (Request, error) {
	asked := c.NIC
	to := ep.dir.Actual(nic.ID(asked))
	c.NIC = uint64(to)
	r, code, cause := ep.startConnect(to, c.Endpoint, func() (endpoint.Handle, error) { return ep.d.Call(c, false) })
	if code != Success {
		return Request{}, handle(ep.onError, ep.connectError(asked, c.Endpoint, code, cause))
	}
	return r, nil
}

// startConnect starts a connect, if its target is one that can be reached.
func (ep *Endpoint) startConnect(to nic.ID, endpointID uint32, start func() (endpoint.Handle, error)) (Request, ReturnCode, error) {
	if endpointID >= MaxEndpoints {
		return Request{}, ErrBadEndpointID, fmt.Errorf("ids are 0 to %d", MaxEndpoints-1)
	}
	switch {
	case ep.dir.IsLocal(to):
	case !ep.far:
		return Request{}, ErrNICNotFound,
			fmt.Errorf("it is not on this host, and no transport in use (%v) leaves it", ep.names)
	case len(ep.dir.Addrs(to)) == 0:
		return Request{}, ErrNICNotFound,
			errors.New("its address is not known; look its host up by name or address first")
	}
	h, err := start()
	switch {
	case err == nil:
		return Request{ep, h}, Success, nil
	case isPlain(err):
		return Request{}, codeOf(err), nil
	}
	return Request{}, codeOf(err), err
}

// Disconnect ends the session with a peer (XII.1.1): all requests tied to it
// complete with StatusEndpointUnreachable, its unexpected messages are dropped,
// and the address is dead. At the peer, requests tied to this endpoint complete with
// StatusEndpointClosed, as if it had been closed. Connect makes a new session. Of endpoints with several contexts all are disconnected. The endpoint's own address
// needed no connect: requests tied to it end as well, and it goes on. Error: ErrBadAddrList, ErrBadEndpoint. Safe from
// any goroutine.
func (ep *Endpoint) Disconnect(addr EndpointAddr) error {
	if err := ep.owns(addr); err != nil {
		return ep.fail("disconnect", addr.String(), err)
	}
	if err := ep.disconnectAll(addr); err != nil {
		return ep.fail("disconnect", addr.String(), err)
	}
	return nil
}

// owns returns why the address can't be used with this endpoint.
func (ep *Endpoint) owns(addr EndpointAddr) error {
	switch addr.ep {
	case ep:
		return nil
	case nil:
		return fmt.Errorf("%w: an address comes from a connect that has succeeded", ErrBadAddrList)
	}
	return fmt.Errorf("%w: the address belongs to endpoint %v; connect this one to the peer, and use the address that you get", ErrBadEndpoint, addr.ep)
}
