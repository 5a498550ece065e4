package exs

import (
	"context"
	"net"
	"net/netip"
	"slices"
)

// The names of the networks of Conn and SeqPacketConn.
const (
	network       = "exs"
	packetNetwork = "exspacket"
)

// Addr is the address of an end of a Conn, or of a Listener: that of the TCP port at
// which connections are made.
type Addr struct{ netip.AddrPort }

// Network returns "exs".
func (Addr) Network() string { return network }

// SeqPacketAddr is an Addr of a SeqPacketConn, or of its Listener.
type SeqPacketAddr struct{ netip.AddrPort }

// Network returns "exspacket".
func (SeqPacketAddr) Network() string { return packetNetwork }

// addrFor is an address of a socket of a type.
func addrFor(typ int, a netip.AddrPort) net.Addr {
	if typ == SeqPacket {
		return SeqPacketAddr{a}
	}
	return Addr{a}
}

// network is the name of the network that a socket is of.
func (s *Socket) network() string {
	if s.typ == SeqPacket {
		return packetNetwork
	}
	return network
}

// namedNetwork is what the name of a network stands for.
type namedNetwork struct {
	typ      int // of the sockets
	ip4, ip6 bool
}

// networks are the names. Programs that name TCP mean the same addresses.
var networks = map[string]namedNetwork{
	network: {Stream, true, true}, network + "4": {Stream, true, false}, network + "6": {Stream, false, true},
	"tcp": {Stream, true, true}, "tcp4": {Stream, true, false}, "tcp6": {Stream, false, true},
	packetNetwork: {SeqPacket, true, true}, packetNetwork + "4": {SeqPacket, true, false}, packetNetwork + "6": {SeqPacket, false, true},
}

// unknownNetwork is the error of a name that stands for none. The error that it stands in has the name.
type unknownNetwork string

func (unknownNetwork) Error() string {
	return "unknown network: there are exs, exspacket and tcp, each with 4 or 6 behind it for one family of addresses"
}

func (n unknownNetwork) Unwrap() error { return net.UnknownNetworkError(n) }

// resolve finds the addresses that a name and port stand for. No host means any of
// ours.
func resolve(ctx context.Context, name, address string) ([]netip.AddrPort, error) {
	n, ok := networks[name]
	if !ok {
		return nil, unknownNetwork(name)
	}
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := net.DefaultResolver.LookupPort(ctx, "tcp", service)
	if err != nil {
		return nil, err
	}
	found := []netip.Addr{netip.IPv4Unspecified(), netip.IPv6Unspecified()}
	if host != "" {
		all, err := net.DefaultResolver.LookupIPAddr(ctx, host) // LookupNetIP loses the zone
		if err != nil {
			return nil, err
		}
		found = found[:0]
		for _, a := range all {
			found = append(found, (&net.TCPAddr{IP: a.IP, Zone: a.Zone}).AddrPort().Addr())
		}
	}
	var fit []netip.AddrPort
	for _, a := range found {
		if a = a.Unmap(); a.Is4() && n.ip4 || a.Is6() && n.ip6 {
			fit = append(fit, netip.AddrPortFrom(a, uint16(port)))
		}
	}
	if fit == nil && n.ip4 && slices.Equal(found, []netip.Addr{netip.IPv6Unspecified()}) { // "[::]" is all addresses, as in package net
		fit = append(fit, netip.AddrPortFrom(netip.IPv4Unspecified(), uint16(port)))
	}
	if fit == nil {
		family := "IPv4"
		if n.ip6 {
			family = "IPv6"
		}
		return nil, &net.AddrError{Err: "no " + family + " address, as network " + name + " needs", Addr: address}
	}
	return fit, nil
}

func domainOf(a netip.AddrPort) int {
	if a.Addr().Is4() {
		return Inet
	}
	return Inet6
}
