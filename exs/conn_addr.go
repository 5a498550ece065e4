package exs

import (
	"context"
	"net"
	"net/netip"
)

const network = "exs"

// Addr is the address of an end of a Conn, or of a Listener: that of the TCP port at
// which connections are made.
type Addr struct{ netip.AddrPort }

// Network returns "exs".
func (Addr) Network() string { return network }

// domains are the domains that a network name stands for. Programs that name TCP mean
// the same addresses.
func domains(name string) (ip4, ip6 bool, err error) {
	switch name {
	case "exs", "tcp":
		return true, true, nil
	case "exs4", "tcp4":
		return true, false, nil
	case "exs6", "tcp6":
		return false, true, nil
	}
	return false, false, net.UnknownNetworkError(name)
}

// resolve finds the addresses that a name and port stand for. No host means any of
// ours.
func resolve(ctx context.Context, name, address string) ([]netip.AddrPort, error) {
	ip4, ip6, err := domains(name)
	if err != nil {
		return nil, err
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
		if found, err = net.DefaultResolver.LookupNetIP(ctx, "ip", host); err != nil {
			return nil, err
		}
	}
	var fit []netip.AddrPort
	for _, a := range found {
		if a = a.Unmap(); a.Is4() && ip4 || a.Is6() && ip6 {
			fit = append(fit, netip.AddrPortFrom(a, uint16(port)))
		}
	}
	if fit == nil {
		return nil, &net.AddrError{Err: "no suitable address", Addr: address}
	}
	return fit, nil
}

func domainOf(a netip.AddrPort) int {
	if a.Addr().Is4() {
		return Inet
	}
	return Inet6
}
