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

	"gomx/internal/labels"
	"gomx/transport"
	"gomx/transport/tcp/internal/sock"
)

// acceptor accepts connections on an endpoint's listening port for all Listeners of
// the endpoint. The first Listener opens the port, and the last one closes it.
type acceptor struct {
	all            *acceptors
	opt            *Options
	self           transport.Address
	session        uint32
	server, client *tls.Config // nil: no TLS
	sockets        []*net.TCPListener
	pending        *pendingSet

	life context.Context // ends with the last Listener
	end  context.CancelFunc
	busy sync.WaitGroup // accept loops and inbound handshakes

	// Under all.mu.
	listeners map[Purpose]*Listener
	accepting bool
	refused   error // why the last peer was refused
}

// acceptors are those of the endpoints that a transport is open for.
type acceptors struct {
	mu sync.Mutex
	at map[transport.Address]*acceptor
}

// newAcceptor claims the endpoint's TCP port on all addresses of its board.
func (t *Transport) newAcceptor(self transport.Address, session uint32) (*acceptor, error) {
	number, err := portOf(&t.opt, self)
	if err != nil {
		return nil, err
	}
	a := &acceptor{all: &t.acceptors, opt: &t.opt, self: self, session: session, pending: newPendingSet(), listeners: map[Purpose]*Listener{}}
	if a.server, a.client, err = tlsConfigs(t.opt.TLS); err != nil {
		return nil, err
	}
	if t.opt.Listen == nil {
		return nil, fmt.Errorf("%w: no addresses to listen on", transport.ErrNoRoute)
	}
	if err := a.listen(t.opt.Listen(self), number); err != nil {
		return nil, err
	}
	a.life, a.end = context.WithCancel(context.Background())
	return a, nil
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
func (a *acceptor) listen(addrs []netip.Addr, number uint16) error {
	if len(addrs) == 0 {
		return fmt.Errorf("%w: its board has no address to listen on", transport.ErrNoRoute)
	}
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	for _, addr := range addrs {
		at := netip.AddrPortFrom(addr.Unmap(), number)
		l, err := config.Listen(context.Background(), network(at.Addr()), at.String())
		if err != nil {
			_ = a.closeSockets()
			if sock.InUse(err) {
				err = &transport.PortTakenError{Port: at}
			}
			return err
		}
		a.sockets = append(a.sockets, l.(*net.TCPListener))
	}
	return nil
}

func network(a netip.Addr) string {
	if a.Is4() {
		return "tcp4"
	}
	return "tcp6"
}

func (a *acceptor) closeSockets() error {
	var errs []error
	for _, l := range a.sockets {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

// add registers a Listener. Accepting begins once there is one for each purpose served.
func (a *acceptor) add(l *Listener, session uint32) error {
	switch {
	case a.listeners[l.purpose] != nil:
		return fmt.Errorf("%w: it is open for %v", transport.ErrBusy, l.purpose)
	case session != a.session:
		return fmt.Errorf("%w: it is open in session %d", transport.ErrBusy, a.session)
	}
	a.listeners[l.purpose] = l
	missing := func(purpose Purpose) bool { return a.listeners[purpose] == nil }
	if a.accepting || slices.ContainsFunc(a.opt.Serves, missing) {
		return nil
	}
	a.accepting = true
	accepting := labels.ForEndpoint("accept", a.self.Endpoint)
	for _, l := range a.sockets {
		a.busy.Add(1)
		go accepting.Func(func() { a.accept(l) })()
	}
	return nil
}

// remove unregisters a Listener. Removing the last one closes the port.
func (a *acceptor) remove(l *Listener) (last bool, err error) {
	a.all.mu.Lock()
	defer a.all.mu.Unlock()
	delete(a.listeners, l.purpose)
	if len(a.listeners) > 0 {
		return false, nil
	}
	delete(a.all.at, a.self)
	err = a.closeSockets()
	a.end()
	return true, err
}

// listenerFor returns the Listener for a purpose and counts the caller as one of its
// users, for whom Close waits. It returns nil if the purpose is not served.
func (a *acceptor) listenerFor(purpose Purpose) *Listener {
	a.all.mu.Lock()
	defer a.all.mu.Unlock()
	l := a.listeners[purpose]
	if l != nil {
		l.users.Add(1)
	}
	return l
}

// refuse reports a refused peer and keeps the reason for Diagnostics. l is the Listener
// for the peer's purpose, or nil if the handshake ended before that was known.
func (a *acceptor) refuse(l *Listener, why error) {
	a.all.mu.Lock()
	for _, purpose := range a.opt.Serves {
		if l == nil {
			l = a.listeners[purpose]
		}
	}
	ours := l == nil || a.listeners[l.purpose] != l // it is we who broke it off
	if !ours {
		a.refused = why
	}
	a.all.mu.Unlock()
	if !ours {
		l.events.Refused(why)
	}
}

// lastRefused returns why the last peer was refused, or nil.
func (a *acceptor) lastRefused() error {
	a.all.mu.Lock()
	defer a.all.mu.Unlock()
	return a.refused
}
