package exs

import (
	"context"
	"net"
	"net/netip"
	"time"
)

// Dial connects to a listener of package exs, as net.Dial does: it is Dial of the zero Dialer, whose comment has the networks.
func Dial(network, address string) (net.Conn, error) {
	return new(Dialer).DialContext(context.Background(), network, address)
}

// DialContext is Dial, and gives up when the context ends: it is DialContext of the zero Dialer.
func DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return new(Dialer).DialContext(ctx, network, address)
}

// Dial is the function Dial in this library.
func (l *Library) Dial(network, address string) (net.Conn, error) {
	return l.DialContext(context.Background(), network, address)
}

// DialContext is the function DialContext in this library.
func (l *Library) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if l.none() {
		return nil, absentNet("dial", noLibrary)
	}
	return (&Dialer{Library: l}).DialContext(ctx, network, address)
}

// dialTime is how long a dial may take for each address that has no deadline.
const dialTime = 30 * time.Second

// toConnect connects a socket to an address, and waits as long as a dial may.
func (s *Socket) toConnect(ctx context.Context, a netip.AddrPort) error {
	timeout := s.l.dialTime
	if _, ok := ctx.Deadline(); ok {
		timeout = Infinite
	}
	return s.connect(ctx, a, Block, timeout, nil, nil)
}

// unspecifiedOf is the address that means any of ours, of the family of another.
func unspecifiedOf(a netip.Addr) netip.Addr {
	if a.Is4() {
		return netip.IPv4Unspecified()
	}
	return netip.IPv6Unspecified()
}

// loopbackOf is what to dial for an address that means any of ours.
func loopbackOf(a netip.Addr) netip.Addr {
	if a.Is4() {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return netip.IPv6Loopback()
}
