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

// DialContext is Dial, and gives up when the context ends.
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

// DialContext is the function DialContext in this library.
func (l *Library) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
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
	q, err := l.Queue(1)
	if err != nil {
		return nil, err
	}
	s, err := l.Socket(domainOf(a), Stream, 0)
	if err != nil {
		return nil, err
	}
	timeout := Infinite
	if t, ok := ctx.Deadline(); ok {
		timeout = max(0, time.Until(t))
	}
	err = s.Connect(a, 0, timeout, q, nil)
	if err == nil {
		defer context.AfterFunc(ctx, func() { _, _ = s.Cancel(nil, CancelAll) })()
		var e [1]Event
		_, err = q.Dequeue(e[:], Infinite)
		if n := e[0].Errno; err == nil && n != 0 {
			err = n
		}
	}
	if err == nil {
		return s, nil
	}
	_ = s.Close(Block, nil, nil)
	if errors.Is(err, ECANCELED) && ctx.Err() != nil {
		err = ctx.Err()
	}
	return nil, err
}

// loopbackOf is what to dial for an address that means any of ours.
func loopbackOf(a netip.Addr) netip.Addr {
	if a.Is4() {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return netip.IPv6Loopback()
}
