//go:build linux

package tcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"gomx/transport"
	"gomx/transport/tcp/internal/sock"
)

// Available returns nil: sockets are there wherever Linux is.
func (t *Transport) Available() error { return nil }

// Open claims the endpoint's TCP port on all addresses of its board and begins
// to accept peers. The errors are transport.ErrBusy if the port is taken on one of
// them, and that of the TLS configuration.
func (t *Transport) Open(o transport.Open) (transport.Port, error) {
	p, err := t.open(o)
	if err != nil {
		return nil, fmt.Errorf("tcp: open %v: %w", o.Self, err)
	}
	return p, nil
}

func (t *Transport) open(o transport.Open) (*port, error) {
	number, err := t.portOf(o.Self)
	if err != nil {
		return nil, err
	}
	p := &port{opt: &t.opt, caps: &t.caps, self: o.Self, session: o.Session, events: o.Events, bell: o.Bell}
	if p.server, p.client, err = tlsConfigs(t.opt.TLS); err != nil {
		return nil, err
	}
	if t.opt.Listen == nil {
		return nil, fmt.Errorf("%w: no addresses to listen on", transport.ErrNoRoute)
	}
	if err := p.listen(t.opt.Listen(o.Self), number); err != nil {
		return nil, err
	}
	p.life, p.end = context.WithCancel(context.Background())
	lobby := newLobby()
	for _, l := range p.listeners {
		p.accepting.Add(1)
		go p.accept(l, lobby)
	}
	return p, nil
}

// portOf returns the TCP port that belongs to an address.
func (t *Transport) portOf(a transport.Address) (uint16, error) { return portOf(&t.opt, a) }

func portOf(o *Options, a transport.Address) (uint16, error) {
	number := int64(o.PortBase) + int64(a.Endpoint)
	if int64(a.Endpoint) >= int64(o.Ports) || number > 65535 || number < 1 {
		return 0, fmt.Errorf("%w: endpoint %d has no port: there are %d from %d on",
			transport.ErrNoRoute, a.Endpoint, o.Ports, o.PortBase)
	}
	return uint16(number), nil
}

// listen listens on all addresses or on none.
func (p *port) listen(addrs []netip.Addr, number uint16) error {
	if len(addrs) == 0 {
		return fmt.Errorf("%w: its board has no address to listen on", transport.ErrNoRoute)
	}
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	for _, a := range addrs {
		at := netip.AddrPortFrom(a.Unmap(), number)
		l, err := config.Listen(context.Background(), network(at.Addr()), at.String())
		if err != nil {
			p.closeListeners()
			if sock.InUse(err) {
				err = fmt.Errorf("%w: port %v is taken", transport.ErrBusy, at)
			}
			return err
		}
		p.listeners = append(p.listeners, l.(*net.TCPListener))
	}
	return nil
}

func network(a netip.Addr) string {
	if a.Is4() {
		return "tcp4"
	}
	return "tcp6"
}

func (p *port) closeListeners() error {
	var errs []error
	for _, l := range p.listeners {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}
