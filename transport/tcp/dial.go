//go:build linux

package tcp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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
// port, and transport.ErrRefused, of which a transport.WrongPeerError is one kind.
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

// A peer that has very many guests may turn us away, so we come again. The pauses
// grow, and are drawn at random, so that those turned away together part.
const (
	firstPause   = 5 * time.Millisecond
	longestPause = 400 * time.Millisecond
)

// attempt is how connecting to one address went.
type attempt struct {
	at       netip.AddrPort
	conn     *net.TCPConn
	deadline time.Time // of all tries
	pause    time.Duration
	tries    int
	err      error
}

// failure says what came of the address.
func (a *attempt) failure() error {
	if a.tries > 1 {
		return fmt.Errorf("%v, tried %d times: %w", a.at, a.tries, a.err)
	}
	return fmt.Errorf("%v: %w", a.at, a.err)
}

// tryAll connects to the addresses one after the other, not waiting long for any,
// and shakes hands with the first that answers.
func (p *port) tryAll(ctx context.Context, peer transport.Address, addrs []netip.Addr, number uint16) (*link, error) {
	results := make(chan *attempt, len(addrs))
	timer := time.NewTimer(0)
	defer timer.Stop()
	var failed []error
	refused, begun, underWay := 0, 0, 0
	ctx, cancel := context.WithCancel(ctx)
	defer func() { // connections that come late are of no use
		cancel()
		for range underWay {
			if a := <-results; a.conn != nil {
				_ = a.conn.Close()
			}
		}
	}()
	for len(failed) < len(addrs) {
		select {
		case <-timer.C:
			if begun < len(addrs) {
				at := netip.AddrPortFrom(addrs[begun].Unmap(), number)
				a := &attempt{at: at, deadline: time.Now().Add(p.opt.ConnectTimeout), pause: firstPause}
				go a.connect(ctx, 0, results)
				begun++
				underWay++
				timer.Reset(nextAddress)
			}
		case a := <-results:
			underWay--
			met := a.err == nil
			var l *link
			if met {
				l, a.err = p.meet(ctx, a.conn, a.deadline, nil, func(m *meeting) (hello, error) {
					return m.introduce(peer)
				})
			}
			if a.err == nil {
				return l, nil
			}
			timer.Reset(0)
			if met && brokenOff(a.err) && a.again(ctx, results) {
				underWay++
				continue
			}
			if sock.Refused(a.err) {
				refused++
			}
			failed = append(failed, a.failure())
		}
	}
	return nil, p.unreached(ctx, failed, refused)
}

// again connects once more after a pause, if there is time for that.
func (a *attempt) again(ctx context.Context, results chan<- *attempt) bool {
	pause := a.pause/2 + rand.N(a.pause)
	if ctx.Err() != nil || time.Until(a.deadline) <= pause {
		return false
	}
	a.pause = min(2*a.pause, longestPause)
	go a.connect(ctx, pause, results)
	return true
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

// connect makes a connection after a pause.
func (a *attempt) connect(ctx context.Context, pause time.Duration, results chan<- *attempt) {
	defer func() { results <- a }()
	a.conn = nil
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
	a.tries++
	d := net.Dialer{Deadline: a.deadline, KeepAlive: -1}
	d.SetMultipathTCP(false)
	c, err := d.DialContext(ctx, network(a.at.Addr()), a.at.String())
	switch {
	case err == nil:
		a.conn, a.err = c.(*net.TCPConn), nil
	case a.err == nil || time.Now().Before(a.deadline):
		a.err = err
	default: // out of time: why it came again says more
	}
}
