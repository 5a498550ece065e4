package mx

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/transport"
	"gomx/transport/nic"
)

// Causes of ErrConnectionFailed, for errors.Is. Its text has the details.
var (
	ErrNoPeer  = transport.ErrNoPeer  // the host answers, and no such endpoint is open there
	ErrRefused = transport.ErrRefused // the peer refuses the connection: it has another secret, TLS or no TLS, or another version
)

// Connect asks the endpoint at a NIC whether it takes us with this filter, and
// returns its address (IV.3.1). It blocks for the timeout at most, and goes on trying
// until then if the peer is there but does not answer.
//
// Errors: ErrNICNotFound (no way to that NIC is known), ErrConnectionFailed (no
// such endpoint is open there, or it can't be reached, or refuses us, or is full of
// messages of our former sessions, which it must receive first; the text says which,
// and has each address that was tried), ErrBadConnectionKey (it has another filter),
// ErrBadEndpointID, ErrTimeout, ErrNoResources (this process has no file descriptor left),
// ErrBadEndpoint (ours is closed). Safe from any
// goroutine.
func (ep *Endpoint) Connect(nicID uint64, endpointID, filter uint32, timeout time.Duration) (EndpointAddr, error) {
	return ep.connect(noContext, nicID, endpointID, filter, timeout)
}

// ConnectContext is Connect until ctx ends. Its error then wraps ctx's, and does not call
// the error handler.
func (ep *Endpoint) ConnectContext(ctx context.Context, nicID uint64, endpointID, filter uint32) (EndpointAddr, error) {
	return ep.connect(ctx, nicID, endpointID, filter, Infinite)
}

// connect follows a board that answers under another NIC id than the one asked for,
// as one does that is asked for by another of its addresses.
func (ep *Endpoint) connect(ctx context.Context, nicID uint64, endpointID, filter uint32, timeout time.Duration) (EndpointAddr, error) {
	began, asked := time.Now(), nic.ID(nicID)
	target := ep.dir.Actual(asked)
	addr, code, cause := ep.connectTo(ctx, target, endpointID, filter, timeout)
	if ep.isElsewhere(asked, target, cause) {
		if timeout != Infinite {
			timeout = max(0, timeout-time.Since(began))
		}
		addr, code, cause = ep.connectTo(ctx, ep.dir.Actual(asked), endpointID, filter, timeout)
	}
	if code != Success {
		e := ep.connectError(nicID, endpointID, code, cause)
		if ended(ctx, cause) {
			return EndpointAddr{}, e
		}
		return EndpointAddr{}, handle(ep.onError, e)
	}
	return addr, nil
}

// isElsewhere reports whether a board that was asked for under one id has answered under another, which is known now.
func (ep *Endpoint) isElsewhere(asked, target nic.ID, cause error) bool {
	_, other := errors.AsType[*transport.WrongPeerError](cause)
	return other && ep.dir.Actual(asked) != target
}

// startPrivate starts a connect that only who has its request collects.
func (ep *Endpoint) startPrivate(to nic.ID, endpointID, filter uint32) (Request, ReturnCode, error) {
	return ep.startConnect(to, endpointID, func() (endpoint.Handle, error) {
		return ep.d.IconnectPrivate(uint64(to), endpointID, filter)
	})
}

// connectTo connects once. Success, or what went wrong.
func (ep *Endpoint) connectTo(ctx context.Context, to nic.ID, endpointID, filter uint32, timeout time.Duration) (EndpointAddr, ReturnCode, error) {
	r, code, cause := ep.startPrivate(to, endpointID, filter)
	if code != Success {
		return EndpointAddr{}, code, cause
	}
	st, done, err := ep.wait(ctx, r, timeout)
	if !done {
		var late endpoint.Status
		if fate, abandonErr := ep.d.Abandon(r.h, &late); abandonErr == nil && fate == endpoint.Ended { // just now
			st.fill(ep, &late)
			done, err = true, nil
		}
	}
	switch {
	case errors.Is(err, driver.ErrClosed):
		return EndpointAddr{}, ErrBadEndpoint, nil
	case !done:
		return EndpointAddr{}, ErrTimeout, ep.timeoutCause(err, timeout, to, endpointID)
	}
	return ep.outcome(&st, to, endpointID, filter)
}

// outcome is what a connect that has ended came to.
func (ep *Endpoint) outcome(st *Status, to nic.ID, endpointID, filter uint32) (EndpointAddr, ReturnCode, error) {
	switch st.Code {
	case StatusSuccess:
		return st.Source, Success, nil
	case StatusBadKey, StatusRejected:
		return EndpointAddr{}, ErrBadConnectionKey, fmt.Errorf("ours is %#x: give OpenEndpoint and Connect the same one on both sides", filter)
	case StatusTimeout:
		return EndpointAddr{}, ErrTimeout, ep.d.Reason(uint64(to), endpointID)
	case StatusBadEndpoint:
		return EndpointAddr{}, ErrBadEndpointID, nil
	case StatusNoResources:
		return EndpointAddr{}, ErrConnectionFailed, fmt.Errorf("%w at the peer: it is full of messages of former sessions "+
			"of this endpoint, and must receive them first, or raise its limits (MX_UNEXP_BYTES, MX_UNEXP_HEADERS)", st.Code)
	}
	reason := ep.d.Reason(uint64(to), endpointID)
	switch {
	case reason == nil:
		return EndpointAddr{}, ErrConnectionFailed, st.Code
	case errors.Is(reason, transport.ErrNoRoute):
		return EndpointAddr{}, ErrNICNotFound, reason
	case errors.Is(reason, transport.ErrNoDescriptors):
		return EndpointAddr{}, ErrNoResources, reason
	case errors.Is(reason, transport.ErrNoPeer):
		return EndpointAddr{}, ErrConnectionFailed, fmt.Errorf("%w; start the other side first, or check its endpoint id", reason)
	}
	return EndpointAddr{}, ErrConnectionFailed, reason
}

// timeoutCause says why a connect has not ended, with what the last attempt came to.
func (ep *Endpoint) timeoutCause(err error, timeout time.Duration, to nic.ID, endpointID uint32) error {
	switch reason := ep.d.Reason(uint64(to), endpointID); {
	case err != nil:
		return err
	case timeout == Infinite:
		return errors.New("woken up")
	case errors.Is(reason, transport.ErrPeerDied): // each time that it was dialled
		return fmt.Errorf("no answer within %v, though it accepts connections, and may be out of file descriptors (ulimit -n): %w",
			timeout, reason)
	case reason != nil:
		return fmt.Errorf("no answer within %v: %w", timeout, reason)
	}
	return fmt.Errorf("no answer within %v", timeout)
}

func (ep *Endpoint) connectError(nicID uint64, endpointID uint32, code ReturnCode, cause error) *Error {
	return &Error{Op: "connect to", Code: code, Endpoint: ep.String(), Peer: peerName(ep.dir, nicID, endpointID), Cause: cause}
}

// Iconnect starts a connect (IV.3.2). The request completes with StatusSuccess
// and the address in Status.Source, or with StatusBadKey, StatusEndpointClosed,
// StatusEndpointUnreachable, StatusTimeout or StatusNoResources: the peer is full of
// messages of former sessions of this endpoint, and must receive them first. The match
// information serves TestAny and WaitAny only. Errors: ErrNICNotFound, ErrBadEndpointID,
// ErrBadEndpoint. Safe from any goroutine.
//
// A host that is asked for by another address than its NIC id comes from, such as
// IPv6 where it has IPv4, may be unreachable the first time. From then on its id is
// known, and Iconnect leads there. Connect does both.
func (ep *Endpoint) Iconnect(nicID uint64, endpointID, filter uint32, matchInfo uint64, context any) (Request, error) {
	to := ep.dir.Actual(nic.ID(nicID))
	r, code, cause := ep.startConnect(to, endpointID, func() (endpoint.Handle, error) {
		return ep.d.Iconnect(uint64(to), endpointID, filter, matchInfo, context)
	})
	if code != Success {
		return Request{}, handle(ep.onError, ep.connectError(nicID, endpointID, code, cause))
	}
	return r, nil
}

// startConnect starts a connect, if its target is one that can be reached.
func (ep *Endpoint) startConnect(to nic.ID, endpointID uint32, start func() (endpoint.Handle, error)) (Request, ReturnCode, error) {
	if endpointID >= MaxEndpoints {
		return Request{}, ErrBadEndpointID, nil
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
// and the address is dead. Connect makes a new session. The endpoint's own address
// needed no connect: requests tied to it end as well, and it goes on. Error: ErrBadAddrList, ErrBadEndpoint. Safe from
// any goroutine.
func (ep *Endpoint) Disconnect(addr EndpointAddr) error {
	if err := ep.owns(addr); err != nil {
		return ep.fail("disconnect", addr.String(), err)
	}
	if err := ep.d.Disconnect(addr.a); err != nil {
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
		return ErrBadAddrList
	}
	return fmt.Errorf("%w: the address belongs to endpoint %v", ErrBadEndpoint, addr.ep)
}
