//go:build linux

package tcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"gomx/transport"
	"gomx/transport/tcp/internal/sock"
)

// nextAddress is how long one address is waited for before the next one is tried
// as well.
const nextAddress = 250 * time.Millisecond

// Dial meets the endpoint at peer at the first of its addresses that answers. The
// error names each address that was tried. Besides the contract's it may be
// transport.ErrNoRoute, if the board has no known address or the endpoint no
// port, and transport.ErrRefused.
func (p *port) Dial(ctx context.Context, peer transport.Address) (transport.Link, error) {
	l, err := p.dial(ctx, peer)
	if err != nil {
		return nil, fmt.Errorf("tcp: %v: dial %v: %w", p.self, peer, err)
	}
	return l, nil
}

func (p *port) dial(ctx context.Context, peer transport.Address) (*link, error) {
	if p.closed.Load() {
		return nil, transport.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	number, err := portOf(p.opt, peer)
	if err != nil {
		return nil, err
	}
	var addrs []netip.Addr
	if p.opt.Addrs != nil {
		addrs = p.opt.Addrs(peer.NIC)
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("%w: no address of its board is known", transport.ErrNoRoute)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.life, cancel)()
	return p.tryAll(ctx, peer, addrs, number)
}

// attempt is how connecting to one address went.
type attempt struct {
	at       netip.AddrPort
	conn     *net.TCPConn
	deadline time.Time
	err      error
}

// tryAll connects to the addresses one after the other, not waiting long for any,
// and shakes hands with the first that answers.
func (p *port) tryAll(ctx context.Context, peer transport.Address, addrs []netip.Addr, number uint16) (*link, error) {
	results := make(chan attempt, len(addrs))
	timer := time.NewTimer(0)
	defer timer.Stop()
	var failed []error
	refused, begun := 0, 0
	ctx, cancel := context.WithCancel(ctx)
	defer func() { // connections that come late are of no use
		cancel()
		for range begun - len(failed) {
			if a := <-results; a.conn != nil {
				_ = a.conn.Close()
			}
		}
	}()
	for len(failed) < len(addrs) {
		select {
		case <-timer.C:
			if begun < len(addrs) {
				go p.connect(ctx, netip.AddrPortFrom(addrs[begun].Unmap(), number), results)
				begun++
				timer.Reset(nextAddress)
			}
		case a := <-results:
			var l *link
			if a.err == nil {
				l, a.err = p.meet(ctx, a.conn, a.deadline, p.client, func(m *meeting) (hello, error) {
					return m.introduce(peer)
				})
			}
			if a.err == nil {
				begun-- // its result is no failure, and has been taken
				return l, nil
			}
			if sock.Refused(a.err) {
				refused++
			}
			failed = append(failed, fmt.Errorf("%v: %w", a.at, a.err))
			timer.Reset(0)
		}
	}
	return nil, p.unreached(ctx, failed, refused)
}

// unreached puts the errors of all addresses together.
func (p *port) unreached(ctx context.Context, failed []error, refused int) error {
	err := errors.Join(failed...)
	switch {
	case p.closed.Load():
		return fmt.Errorf("%w\n%w", transport.ErrClosed, err)
	case ctx.Err() != nil:
		return fmt.Errorf("%w\n%w", ctx.Err(), err)
	case refused == len(failed):
		return fmt.Errorf("%w: %w", transport.ErrNoPeer, err)
	}
	return err
}

func (p *port) connect(ctx context.Context, at netip.AddrPort, results chan<- attempt) {
	a := attempt{at: at, deadline: time.Now().Add(p.opt.ConnectTimeout)}
	d := net.Dialer{Deadline: a.deadline, KeepAlive: -1}
	d.SetMultipathTCP(false)
	c, err := d.DialContext(ctx, network(at.Addr()), at.String())
	if a.err = err; err == nil {
		a.conn = c.(*net.TCPConn)
	}
	results <- a
}
