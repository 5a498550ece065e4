//go:build linux

package tcp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"slices"
	"time"

	"gomx/transport"
	"gomx/transport/tcp/internal/sock"
)

// nextAddress is how long one address is tried before the next one is tried as well.
// muteAddress is that time for an address that has accepted the connection, and does
// not answer the handshake.
const (
	nextAddress = 250 * time.Millisecond
	muteAddress = time.Second
)

// Dial connects to the endpoint at peer at the first of its addresses that answers, and
// has finish go on from there. It returns nil when finish does. If the peer breaks
// the connection off, Dial comes again with another one while there is time. That
// may be while finish has it, which must return the error of peer.Conn for that and
// may be called more than once.
//
// The error names each address that was tried, once, and not the endpoints, whom the caller knows. It may be transport.ErrNoPeer,
// transport.ErrNoRoute, if the board has no known address or the endpoint no port,
// transport.ErrRefused, of which a transport.WrongPeerError is one kind,
// transport.ErrUnsupported, if the endpoint does not serve the Listener's purpose,
// transport.ErrClosed, transport.ErrSlow, if no address has answered in time, or one evicts
// handshakes until then, and none says that nobody is there, and that of ctx.
func (l *Listener) Dial(ctx context.Context, peer transport.Address, finish Exchange) error {
	if !l.enter() {
		return transport.ErrClosed
	}
	defer l.users.Done()
	if err := ctx.Err(); err != nil {
		return err
	}
	o := l.acceptor.opt
	number, err := portOf(o, peer)
	if err != nil {
		return err
	}
	var addrs []netip.Addr
	if o.Addrs != nil {
		addrs = o.Addrs(peer.NIC)
	}
	if len(addrs) == 0 {
		return fmt.Errorf("%w: no address of its board is known", transport.ErrNoRoute)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.life, cancel)()
	t, err := takeTurn(ctx, o.TLS != nil)
	if err != nil {
		return err
	}
	defer t.end()
	return l.tryAll(ctx, peer, addrs, number, finish, t.heard)
}

// A peer with very many pending handshakes may evict ours, and then the dial is
// retried. The pauses grow and are random, so that dials that were evicted together
// do not all come back together.
const (
	firstPause   = 5 * time.Millisecond
	longestPause = 400 * time.Millisecond
)

// attempt is how connecting to one address went.
type attempt struct {
	at        netip.AddrPort
	conn      *net.TCPConn
	deadline  time.Time // of all tries
	pause     time.Duration
	tries     int
	connected bool // the last one has led to a connection
	began     time.Time
	evicted   bool // the last connection was broken off although the peer had answered, or was given time for its hello
	err       error
}

// failure is the error of the address, which is named once.
func (a *attempt) failure() error {
	err := a.err
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" && error(dial) == err {
		err = dial.Err // the rest of it is the address again
		if call, ok := err.(*os.SyscallError); ok {
			err = call.Err
		}
	}
	if !a.connected && slow(err) {
		err = fmt.Errorf("nothing answers there: the host is down, or a firewall drops packets to that port: %w", err)
	}
	if a.tries > 1 {
		return fmt.Errorf("%v, tried %d times: %w", a.at, a.tries, err)
	}
	return fmt.Errorf("%v: %w", a.at, err)
}

// dialing is a dial that is under way.
type dialing struct {
	listener *Listener
	peer     transport.Address
	finish   Exchange
	heard    func()
	results  chan *attempt // of all that have come to an end, one for each that begins
	accepted chan struct{} // an address has accepted a connection
	turn     chan struct{} // held by the one that has finish
}

// tryAll connects to the addresses one after the other, not waiting long for any,
// and goes on with the first that answers.
func (l *Listener) tryAll(ctx context.Context, peer transport.Address, addrs []netip.Addr, number uint16,
	finish Exchange, heard func()) error {
	r := &dialing{listener: l, peer: peer, finish: finish, heard: heard,
		results: make(chan *attempt), accepted: make(chan struct{}, len(addrs)), turn: make(chan struct{}, 1)}
	timer := time.NewTimer(0)
	defer timer.Stop()
	var failed []*attempt
	started, underWay := 0, 0
	ctx, cancel := context.WithCancel(ctx)
	defer func() { // those that come late are of no use
		cancel()
		for range underWay {
			<-r.results
		}
	}()
	for len(failed) < len(addrs) {
		select {
		case <-timer.C:
			if started < len(addrs) {
				at := netip.AddrPortFrom(addrs[started].Unmap(), number)
				a := &attempt{at: at, deadline: time.Now().Add(l.acceptor.opt.ConnectTimeout), pause: firstPause}
				go a.run(ctx, 0, r)
				started++
				underWay++
				timer.Reset(nextAddress)
			}
		case <-r.accepted:
			timer.Reset(muteAddress)
		case a := <-r.results:
			underWay--
			if a.connected && slow(a.err) {
				a.err = fmt.Errorf("its process may be stopped, or out of file descriptors (ulimit -n): %w", a.err)
			}
			if a.err == nil {
				return nil
			}
			timer.Reset(0)
			if brokenOff(a.err) && a.again(ctx, r) { // before it was connected: by a listener that is being closed
				underWay++
				continue
			}
			if failed = append(failed, a); len(failed) == len(addrs) {
				failed, underWay = secondTries(ctx, failed, r)
			}
		}
	}
	return l.unreached(ctx, failed)
}

// run connects to the address after a pause, shakes hands, and has finish go on from there if
// no other address has come first.
func (a *attempt) run(ctx context.Context, pause time.Duration, r *dialing) {
	defer func() { r.results <- a }()
	a.connect(ctx, pause)
	if a.connected = a.err == nil; !a.connected {
		return
	}
	r.heard()
	select {
	case r.accepted <- struct{}{}:
	default: // an earlier attempt has reported it
	}
	h := &handshake{acceptor: r.listener.acceptor, tcp: a.conn, deadline: a.deadline}
	a.err = h.run(ctx, r.listener.acceptor.client, func() error {
		if err := h.initiate(r.peer, r.listener.purpose); err != nil {
			return err
		}
		select {
		case r.turn <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		err := h.exchange(ctx, r.finish)
		if err != nil {
			<-r.turn // else no other one goes on
		}
		return err
	})
	a.evicted = brokenOff(a.err) && (h.agreed || time.Since(a.began) >= leastStay) // who does not want us hangs up at once
}

// again connects once more after a pause, if there is time for that.
func (a *attempt) again(ctx context.Context, r *dialing) bool {
	pause := a.pause/2 + rand.N(a.pause)
	if ctx.Err() != nil || time.Until(a.deadline) <= pause {
		return false
	}
	a.pause = min(2*a.pause, longestPause)
	go a.run(ctx, pause, r)
	return true
}

// unreached puts the errors of all addresses together.
func (l *Listener) unreached(ctx context.Context, failed []*attempt) error {
	var each []error
	refused := 0
	for _, a := range failed {
		if each = append(each, a.failure()); sock.Refused(a.err) || errors.Is(a.err, transport.ErrNoPeer) {
			refused++
		}
	}
	err := errors.Join(each...)
	switch {
	case l.closed.Load():
		return fmt.Errorf("%w\n%w", transport.ErrClosed, err)
	case ctx.Err() != nil:
		return fmt.Errorf("%w\n%w", ctx.Err(), err)
	case refused == len(failed):
		return fmt.Errorf("%w: %w", transport.ErrNoPeer, err)
	case mayAnswer(failed):
		return fmt.Errorf("%w: %w", transport.ErrSlow, err)
	}
	return err
}

// mayAnswer reports whether another dial may succeed: no address has answered in time. One that only breaks connections off has answered,
// unless it may have evicted the handshake, or another one has accepted the connection and does not get round to it.
func mayAnswer(failed []*attempt) bool {
	busy, brokeOff := false, false
	for _, a := range failed {
		switch {
		case slow(a.err):
			busy = busy || a.connected
		case brokenOff(a.err):
			busy, brokeOff = busy || a.evicted, true
		default:
			return false
		}
	}
	return busy || !brokeOff
}

// secondTries begins with the addresses once more where nobody listened, if another one has accepted the connection since: the peer may have
// opened in between. It returns the others, and how many tries it has begun.
func secondTries(ctx context.Context, failed []*attempt, r *dialing) (others []*attempt, begun int) {
	if !slices.ContainsFunc(failed, func(a *attempt) bool { return a.connected }) {
		return failed, 0
	}
	for _, a := range failed {
		if !sock.Refused(a.err) || a.tries > 1 || ctx.Err() != nil {
			others = append(others, a)
			continue
		}
		a.deadline = time.Now().Add(r.listener.acceptor.opt.ConnectTimeout)
		begun++
		go a.run(ctx, 0, r)
	}
	return others, begun
}

// slow reports whether an address did not answer in time. One that breaks connections
// off, again and again until then, has answered.
func slow(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// connect makes a connection after a pause.
func (a *attempt) connect(ctx context.Context, pause time.Duration) {
	a.conn = nil
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
	a.tries++
	a.began = time.Now()
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
