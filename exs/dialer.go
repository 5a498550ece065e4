package exs

import (
	"context"
	"crypto/tls"
	"math"
	"net"
	"net/netip"
	"time"
)

// Dialer has the options of a dial, in the shape of net.Dialer. The zero Dialer is that of the functions Dial and DialContext. It may be used by any
// number of goroutines at once, and must not be changed then.
type Dialer struct {
	// Timeout is how long a dial may take. 0 leaves it to Deadline and the context; without any of the three each address of the name has 30 seconds.
	Timeout time.Duration

	// Deadline is when a dial is given up. The zero time means no deadline.
	Deadline time.Time

	// LocalAddr is the address to dial from, an Addr, a SeqPacketAddr or a *net.TCPAddr; nil leaves the choice to the system. Addresses of the other family
	// are not dialled.
	LocalAddr net.Addr

	// StreamBuffer is the most memory, in bytes, that this side holds of what the peer has sent ahead of a Read: from
	// LeastStreamBuf to MaxStreamBuf, of which no more than 1 GiB is used. 0 means DefaultStreamBuf. With less than 0 there
	// is none, and bytes go straight into the memory of a Read that waits.
	StreamBuffer int

	// BusyPoll makes calls of the connection that wait poll and never sleep, so that each keeps a core busy. Latency is lower if there is a core for
	// each call that waits and for the peer that it waits for. With fewer cores latency is much higher, also for everything else.
	BusyPoll bool

	// Secret is what the endpoints of both sides must know (MX_SECRET); nil leaves it to the environment. Processes of one host that meet over
	// shared memory are not asked for it, for they are of the same user.
	// TLS encrypts what goes between hosts (MX_TLS); each side shows a certificate that the other's RootCAs vouches for. nil leaves it to the environment.
	// All Dialers and ListenConfigs with the same secret and the same *tls.Config share one endpoint, which stays until Finalize. Both must be nil if there is a Library.
	Secret []byte
	TLS    *tls.Config

	// Library is whose endpoint the connection goes over; nil is the default library, which is initialized if Init was not called.
	Library *Library

	// Control, if it is not nil, is called with each socket before it connects, for options that the Dialer lacks. The dial ends with its error.
	Control func(network, address string, s *Socket) error
}

// Dial is DialContext with a context that does not end.
func (d *Dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

// DialContext connects to a listener of package exs. The network is "exs", "exs4" or "exs6" for a stream, a *Conn, and "exspacket", "exspacket4" or "exspacket6"
// for packets, a *SeqPacketConn; the listener has to be of the same type. "tcp", "tcp4" and "tcp6" mean the same as the first three, so that the function
// can stand where one of package net is wanted. The address is that of net.Dial: a name is looked up, and its addresses are tried in turn, with a fair share of the time
// each; no host, and an address that means all of the host's, are this host.
//
// Errors are of type *net.OpError, and match their number, as errors.Is(err, syscall.ECONNREFUSED) says: see Socket.Connect. Time that is over is
// context.DeadlineExceeded, and the text says what was waited for; a library that is closed meanwhile is net.ErrClosed.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	l, err := libraryOf(d.Library, d.Secret, d.TLS)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: plain(err)}
	}
	if end := d.end(time.Now()); !end.IsZero() {
		limited, stop := context.WithDeadline(ctx, end)
		defer stop()
		ctx = limited
	}
	to, err := d.targets(ctx, network, address)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	var first error
	for i, a := range to {
		share, stop := shareOf(ctx, len(to)-i)
		c, err := d.connect(share, l, network, a)
		stop()
		if err == nil {
			return c, nil
		}
		if first == nil {
			first = &net.OpError{Op: "dial", Net: network, Source: d.LocalAddr, Addr: addrFor(networks[network].typ, a), Err: plain(err)}
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, first
}

// end is when a dial that begins now is given up, or the zero time.
func (d *Dialer) end(now time.Time) time.Time {
	end := d.Deadline
	if d.Timeout != 0 && (end.IsZero() || now.Add(d.Timeout).Before(end)) {
		end = now.Add(d.Timeout)
	}
	return end
}

// leastShare is what an address gets of a deadline if there is as much, however many follow.
const leastShare = 2 * time.Second

// shareOf is the context of an address behind which others follow, count with it: an address that does not answer leaves time for them.
func shareOf(ctx context.Context, count int) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok || count == 1 {
		return ctx, func() {}
	}
	left := time.Until(end)
	return context.WithTimeout(ctx, min(left, max(left/time.Duration(count), leastShare)))
}

// targets are the addresses to try, in order.
func (d *Dialer) targets(ctx context.Context, network, address string) ([]netip.AddrPort, error) {
	found, err := resolve(ctx, network, address)
	if err != nil {
		return nil, err
	}
	from, err := d.from()
	if err != nil {
		return nil, err
	}
	var to []netip.AddrPort
	for _, a := range found {
		for _, a := range meant(a) {
			if !from.Addr().IsValid() || domainOf(from) == domainOf(a) {
				to = append(to, a)
			}
		}
	}
	if to == nil {
		return nil, &net.AddrError{Err: "no address of the family of LocalAddr " + d.LocalAddr.String(), Addr: address}
	}
	return to, nil
}

// meant are the addresses that one stands for: it, or if it means all of the host's, those of this host. All of IPv6 has IPv4 with it, as
// for a listener.
func meant(a netip.AddrPort) []netip.AddrPort {
	if !a.Addr().IsUnspecified() {
		return []netip.AddrPort{a}
	}
	to := []netip.AddrPort{netip.AddrPortFrom(loopbackOf(a.Addr()), a.Port())}
	if a.Addr().Is6() {
		to = append(to, netip.AddrPortFrom(loopbackOf(netip.IPv4Unspecified()), a.Port()))
	}
	return to
}

// from is LocalAddr, or the zero address. One without an IP address means all of the host's.
func (d *Dialer) from() (netip.AddrPort, error) {
	switch a := d.LocalAddr.(type) {
	case nil:
		return netip.AddrPort{}, nil
	case Addr:
		return unmapped(a.AddrPort), nil
	case SeqPacketAddr:
		return unmapped(a.AddrPort), nil
	case *net.TCPAddr:
		if a == nil {
			return netip.AddrPort{}, nil
		}
		if len(a.IP) > 0 && a.IP.To16() == nil || a.Port < 0 || a.Port > math.MaxUint16 {
			return netip.AddrPort{}, &net.AddrError{Err: "LocalAddr is no address of TCP", Addr: a.String()}
		}
		return unmapped(a.AddrPort()), nil
	}
	return netip.AddrPort{}, &net.AddrError{Err: "LocalAddr is no address of package exs and no *net.TCPAddr", Addr: d.LocalAddr.String()}
}

func unmapped(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

// connect makes a socket that is connected to an address.
func (d *Dialer) connect(ctx context.Context, l *Library, network string, a netip.AddrPort) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, new(wait).over(err)
	}
	s, err := l.Socket(domainOf(a), networks[network].typ, 0)
	if err != nil {
		return nil, err
	}
	err = s.tune(network, a, d.StreamBuffer, d.BusyPoll, d.Control)
	if from, _ := d.from(); err == nil && (from.IsValid() || from.Port() != 0) {
		if !from.IsValid() {
			from = netip.AddrPortFrom(unspecifiedOf(a.Addr()), from.Port())
		}
		err = s.Bind(from)
	}
	if err == nil {
		err = s.toConnect(ctx, a)
	}
	if err != nil {
		_ = s.Close(Block, nil, nil)
		return nil, l.endedBy(err)
	}
	return netConn(s), nil
}
