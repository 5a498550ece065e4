package exs

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"slices"
)

// DefaultBacklog is how many connections a Listener makes ahead of Accept.
const DefaultBacklog = 128

// ListenConfig has the options of a Listener, in the shape of net.ListenConfig, and of the connections that it accepts. The zero ListenConfig is that
// of the function Listen. It may be used by any number of goroutines at once, and must not be changed then.
type ListenConfig struct {
	// Backlog is how many connections are made ahead of Accept; other clients wait for Accept. 0 means DefaultBacklog. A negative one is an error of
	// Listen, EINVAL.
	Backlog int

	// StreamBuffer, BusyPoll, Secret, TLS and Library are those of a Dialer.
	StreamBuffer int
	BusyPoll     bool
	Secret       []byte
	TLS          *tls.Config
	Library      *Library

	// Control, if it is not nil, is called with the listening socket before it is bound, for options that the ListenConfig lacks; the sockets of the
	// connections inherit them. Listen ends with its error.
	Control func(network, address string, s *Socket) error
}

// Listen listens at an address for connections of Dial and Connect, as net.Listen does. The network is one of those of Dialer.DialContext. Port 0, and no
// address, mean a free port, which Addr of the Listener tells. Without a host, or with "[::]", it listens at all addresses of the host: of both families, or of the one
// that the network names. "0.0.0.0" is all IPv4 addresses. Of a name with several addresses it takes the first of IPv4, or else the first. The context is that of the look-up of
// names. Errors are of type *net.OpError.
func (c *ListenConfig) Listen(ctx context.Context, network, address string) (net.Listener, error) {
	n, at, err := c.listen(ctx, network, address)
	if err != nil {
		e := &net.OpError{Op: "listen", Net: network, Err: plain(err)}
		if at.IsValid() {
			e.Addr = addrFor(networks[network].typ, at)
		}
		return nil, e
	}
	return n, nil
}

// Listen listens at an address for connections of Dial and Connect, as net.Listen does: it is Listen of the zero ListenConfig.
func Listen(network, address string) (net.Listener, error) {
	return new(ListenConfig).Listen(context.Background(), network, address)
}

// Listen is the function Listen in this library.
func (l *Library) Listen(network, address string) (net.Listener, error) {
	if l.none() {
		return nil, absentNet("listen", noLibrary)
	}
	return (&ListenConfig{Library: l}).Listen(context.Background(), network, address)
}

// listen also returns the address, once it is known.
func (c *ListenConfig) listen(ctx context.Context, network, address string) (*Listener, netip.AddrPort, error) {
	l, err := libraryOf(c.Library, c.Secret, c.TLS)
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	if c.Backlog < 0 {
		return nil, netip.AddrPort{}, &Error{Op: "listen", Errno: EINVAL, Cause: tell(fmt.Sprintf("Backlog is %d, and at least 0", c.Backlog))}
	}
	at, both, err := post4or6(ctx, network, address)
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	q, err := l.Queue(1)
	if err != nil {
		return nil, at, err
	}
	s, err := l.Socket(domainOf(at), networks[network].typ, 0)
	if err != nil {
		return nil, at, err
	}
	s.both = both
	backlog := c.Backlog
	if backlog == 0 {
		backlog = DefaultBacklog
	}
	if err = s.tune(network, at, c.StreamBuffer, c.BusyPoll, c.Control); err == nil {
		err = s.Bind(at)
	}
	if err == nil {
		err = s.Listen(backlog)
	}
	if err != nil {
		_ = s.Close(Block, nil, nil)
		return nil, at, l.endedBy(err)
	}
	return newListener(s, q), at, nil
}

// post4or6 is the address to listen at. Both: of IPv4 too, though it is one of IPv6.
func post4or6(ctx context.Context, network, address string) (at netip.AddrPort, both bool, err error) {
	if address == "" {
		address = ":0"
	}
	found, err := resolve(ctx, network, address)
	if err != nil {
		return at, false, err
	}
	n, all := networks[network], netip.AddrPortFrom(netip.IPv6Unspecified(), found[0].Port())
	if slices.Contains(found, all) { // as it is for no host
		return all, n.ip4, nil
	}
	for _, a := range found {
		if a.Addr().Is4() {
			return a, false, nil
		}
	}
	return found[0], false, nil
}
