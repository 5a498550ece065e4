//go:build linux

package tcp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"

	"gomx/transport"
	"gomx/transport/tcp/internal/sock"
)

// place is an endpoint's listening port. Its desks share it: the first one claims
// it, and the last one gives it back.
type place struct {
	all            *places
	opt            *Options
	self           transport.Address
	session        uint32
	server, client *tls.Config // nil: no TLS
	listeners      []*net.TCPListener
	lobby          *lobby

	life context.Context // ends with the last desk
	end  context.CancelFunc
	busy sync.WaitGroup // those who accept, and guests

	// Under all.mu.
	desks     map[Purpose]*Desk
	accepting bool
	refused   error // the last peer that was turned away, and why
}

// places are the endpoints that a transport is open for.
type places struct {
	mu sync.Mutex
	at map[transport.Address]*place
}

// newPlace claims the endpoint's TCP port on all addresses of its board.
func (t *Transport) newPlace(self transport.Address, session uint32) (*place, error) {
	number, err := portOf(&t.opt, self)
	if err != nil {
		return nil, err
	}
	p := &place{all: &t.places, opt: &t.opt, self: self, session: session, lobby: newLobby(), desks: map[Purpose]*Desk{}}
	if p.server, p.client, err = tlsConfigs(t.opt.TLS); err != nil {
		return nil, err
	}
	if t.opt.Listen == nil {
		return nil, fmt.Errorf("%w: no addresses to listen on", transport.ErrNoRoute)
	}
	if err := p.listen(t.opt.Listen(self), number); err != nil {
		return nil, err
	}
	p.life, p.end = context.WithCancel(context.Background())
	return p, nil
}

// portOf returns the TCP port that belongs to an address.
func portOf(o *Options, a transport.Address) (uint16, error) {
	number := int64(o.PortBase) + int64(a.Endpoint)
	if int64(a.Endpoint) >= int64(o.Ports) || number > 65535 || number < 1 {
		return 0, fmt.Errorf("%w: endpoint %d has no port: there are %d from %d on",
			transport.ErrNoRoute, a.Endpoint, o.Ports, o.PortBase)
	}
	return uint16(number), nil
}

// listen listens on all addresses or on none.
func (p *place) listen(addrs []netip.Addr, number uint16) error {
	if len(addrs) == 0 {
		return fmt.Errorf("%w: its board has no address to listen on", transport.ErrNoRoute)
	}
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	for _, a := range addrs {
		at := netip.AddrPortFrom(a.Unmap(), number)
		l, err := config.Listen(context.Background(), network(at.Addr()), at.String())
		if err != nil {
			_ = p.closeListeners()
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

func (p *place) closeListeners() error {
	var errs []error
	for _, l := range p.listeners {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

// add makes d one of the desks, and begins to accept once none is missing.
func (p *place) add(d *Desk, session uint32) error {
	switch {
	case p.desks[d.purpose] != nil:
		return fmt.Errorf("%w: it is open for %v", transport.ErrBusy, d.purpose)
	case session != p.session:
		return fmt.Errorf("%w: it is open in session %d", transport.ErrBusy, p.session)
	}
	p.desks[d.purpose] = d
	missing := func(purpose Purpose) bool { return p.desks[purpose] == nil }
	if p.accepting || slices.ContainsFunc(p.opt.Serves, missing) {
		return nil
	}
	p.accepting = true
	for _, l := range p.listeners {
		p.busy.Add(1)
		go p.accept(l)
	}
	return nil
}

// remove takes d out of the desks. With the last one the port goes.
func (p *place) remove(d *Desk) (last bool, err error) {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	delete(p.desks, d.purpose)
	if len(p.desks) > 0 {
		return false, nil
	}
	delete(p.all.at, p.self)
	err = p.closeListeners()
	p.end()
	return true, err
}

// deskFor returns the desk for a purpose, which then waits for the guest until it
// has left. nil: that purpose is not served.
func (p *place) deskFor(purpose Purpose) *Desk {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	d := p.desks[purpose]
	if d != nil {
		d.visits.Add(1)
	}
	return d
}

// refuse counts a peer that was turned away, and keeps the reason for Describe.
// With d it had found the desk for its purpose.
func (p *place) refuse(d *Desk, why error) {
	p.all.mu.Lock()
	for _, purpose := range p.opt.Serves {
		if d == nil {
			d = p.desks[purpose]
		}
	}
	ours := d == nil || p.desks[d.purpose] != d // it is we who broke it off
	if !ours {
		p.refused = why
	}
	p.all.mu.Unlock()
	if !ours {
		d.events.Count(transport.RefusedHandshakes)
	}
}

// lastRefused returns why a peer was turned away last, or nil.
func (p *place) lastRefused() error {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	return p.refused
}
