package exs

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"
)

// Dial connects to a listener of package exs, as net.Dial does. The network is
// "exs", "exs4" or "exs6"; "tcp", "tcp4" and "tcp6" mean the same, so that the function
// can stand where one of package net is wanted. It uses the default library, which
// it initializes if Init was not called. Errors are of type *net.OpError.
func Dial(network, address string) (net.Conn, error) {
	return DialContext(context.Background(), network, address)
}

// DialContext is Dial, and gives up when the context ends. A context without a deadline gives each address 30
// seconds, after which the error is context.DeadlineExceeded too: another side that says nothing is not waited for for ever. What was
// waited for the error says. If the library is closed meanwhile, it is net.ErrClosed.
func DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	l, err := initialized()
	if err != nil {
		return nil, err
	}
	return l.DialContext(ctx, network, address)
}

// initialized returns the default library, and initializes it if need be.
func initialized() (*Library, error) {
	if err := Init(Version1); err != nil && !errors.Is(err, EALREADY) {
		return nil, err
	}
	return defaultLibrary("dial or listen")
}

// Dial is the function Dial in this library.
func (l *Library) Dial(network, address string) (net.Conn, error) {
	return l.DialContext(context.Background(), network, address)
}

// dialTime is how long a dial without a deadline of its context may take.
const dialTime = 30 * time.Second

// DialContext is the function DialContext in this library.
func (l *Library) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if l.none() {
		return nil, absentNet("dial", noLibrary)
	}
	found, err := resolve(ctx, network, address)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	var first error
	for _, a := range found {
		s, err := l.connect(ctx, a)
		if err == nil {
			return newConn(s), nil
		}
		if first == nil {
			first = &net.OpError{Op: "dial", Net: network, Addr: Addr{a}, Err: err}
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, first
}

// connect makes a stream socket that is connected to an address.
func (l *Library) connect(ctx context.Context, a netip.AddrPort) (*Socket, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if a.Addr().IsUnspecified() {
		a = netip.AddrPortFrom(loopbackOf(a.Addr()), a.Port())
	}
	s, err := l.Socket(domainOf(a), Stream, 0)
	if err != nil {
		return nil, err
	}
	timeout := l.dialTime
	if _, ok := ctx.Deadline(); ok {
		timeout = Infinite
	}
	if err = s.connect(ctx, a, Block, timeout, nil, nil); err == nil {
		return s, nil
	}
	_ = s.Close(Block, nil, nil)
	return nil, dialError(err)
}

// dialError is how a connect failed, without what the error of the dial says besides.
func dialError(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	if errors.Is(e.Cause, context.Canceled) {
		return context.Canceled
	}
	if errors.Is(e.Cause, context.DeadlineExceeded) || errors.Is(e.Cause, net.ErrClosed) {
		return e.Cause
	}
	if _, ok := e.Cause.(*net.OpError); ok {
		return e.Errno
	}
	e.Op = "connect"
	return e
}

// loopbackOf is what to dial for an address that means any of ours.
func loopbackOf(a netip.Addr) netip.Addr {
	if a.Is4() {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return netip.IPv6Loopback()
}
