package exs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"gomx/exs/internal/hungup"
	"gomx/exs/internal/life"
	"gomx/exs/internal/linger"
	"gomx/mx"
)

// joining is a connection in the making.
type joining struct {
	stop context.CancelFunc

	// At the server.
	nonce      nonce
	identified atomic.Bool       // the client has sent its identity over the endpoint
	waiter     *mx.Waiter        // where the server waits for that identity
	pending    *pendingHandshake // nil at the client
	theirs     *hello

	// At the client.
	cancelled bool     // by Cancel, before it was made
	made      bool     // the listener has taken it, and it can't be cancelled any more
	found     *route   // where the listener may be reached directly from now on, or nil
	asked     *request // while it connects directly
	over      net.Conn // while it waits for the listener to take it
	ended     bool     // the session of the two endpoints has ended meanwhile
}

// Connect starts to connect to a listener (4.2), and gives up after the timeout. If it fails, the socket is as it was before, and
// may connect again. With Block it returns when the socket
// is connected; otherwise an event of type EvtConnect says so. Errors of the call:
// EAFNOSUPPORT, EALREADY, EISCONN, EOPNOTSUPP for a listener, EINVAL, EBADF, ENETDOWN.
// Errors of the event, or with Block: ECONNREFUSED, ETIMEDOUT, EADDRINUSE, EHOSTUNREACH if the listener's endpoint is not
// reached by any transport, ECANCELED if the socket or the library is closed, EPROTO if
// the other side does not speak EXS or has a socket of another type, and errors of the network.
func (s *Socket) Connect(addr netip.AddrPort, flags Flags, timeout time.Duration, q *Queue, ahandle any) error {
	if err := s.present("connect"); err != nil {
		return err
	}
	if flags&^Block != 0 || timeout < 0 {
		return s.wrong("connect", "the timeout is %v, and flags %#x: it is 0 at least, and the only flag is Block", timeout, uint32(flags))
	}
	return s.connect(context.Background(), addr, flags, timeout, q, ahandle)
}

// connect is Connect, which gives up when the context ends.
func (s *Socket) connect(parent context.Context, addr netip.AddrPort, flags Flags, timeout time.Duration, q *Queue, ahandle any) error {
	if !s.none() {
		if _, err := s.l.Endpoint(); err != nil {
			return err
		}
	}
	if n := s.lockFor(life.Connect); n != 0 {
		if n == EOPNOTSUPP {
			return s.named(because("connect", n, isServer))
		}
		return s.fail("connect", n)
	}
	if !s.fits(addr) {
		s.mu.Unlock()
		return s.fail("connect", EAFNOSUPPORT)
	}
	o, n := s.begin(EvtConnect, flags, q, ahandle)
	if n != 0 {
		s.mu.Unlock()
		return s.unsuited("connect", n, flags, q, nil)
	}
	o.extra = &extra{addr: addr}
	ctx, stop := context.WithCancel(parent)
	if timeout != Infinite {
		stop()
		ctx, stop = context.WithTimeout(parent, timeout)
	}
	s.joining = &joining{stop: stop}
	s.life.Connect()
	local := s.unpost()
	if local.IsValid() || ctx.Err() != nil || !s.ask(ctx, o, addr) { // join says what is over
		s.l.start(func() { s.join(ctx, o, local, addr, wait{}) })
	}
	s.mu.Unlock()
	if flags&Block == 0 {
		return nil
	}
	_, x, n := s.await(o)
	return x.failure("connect to "+addr.String(), n)
}

// failure makes the error of a blocking operation that has failed.
func (x *extra) failure(op string, n Errno) error {
	if n == 0 {
		return nil
	}
	e := &Error{Op: op, Errno: n}
	if x != nil {
		e.Cause = x.cause
	}
	return e
}

// join makes the connection over TCP, and ends the operation.
func (s *Socket) join(ctx context.Context, o *op, local netip.AddrPort, addr netip.AddrPort, waits wait) {
	err := s.dial(ctx, local, addr, &waits)
	if err != nil {
		switch end, ok := ctx.Deadline(); { // the end of the context is the cause of other errors
		case s.l.isClosed():
			err = errLibraryClosed
		case ctx.Err() != nil:
			err = waits.over(ctx.Err())
		case ok && !time.Now().Before(end): // the system's timer was ahead of the context's
			err = waits.over(context.DeadlineExceeded)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.joining
	j.stop()
	s.joining = nil
	if j.cancelled && !s.l.isClosed() {
		err = waits.over(context.Canceled)
	}
	s.life.Connected(err == nil)
	switch {
	case s.life.State() == life.Closed:
		if !errors.Is(err, errLibraryClosed) {
			err = errSocketClosed
		}
		s.reject(ECONNRESET)
	case err == nil:
		s.remote = addr
		s.arm()
		s.l.addRoute(addr, j.found)
		if j.ended {
			s.lose(ECONNRESET)
		}
	case local.IsValid():
		_ = s.openPost(local) // if another socket has taken the port meanwhile, Listen reports it
	}
	var n Errno
	if err != nil {
		o.extra.cause = err
		n = connectErrno(err)
	}
	s.finish(o, n)
	s.settle()
}

// A listener that has more clients than places, or too few files for them, sends some away. These try again until their timeout
// has passed, after pauses that grow and are random, so that clients that were sent away together do not return together. A
// server that hangs up without a message may not be a listener, or may have ended: it is dialled dialTries times. One whose endpoint is not
// reached has ended if it hangs up within the endPause.
const (
	dialTries    = 5
	endPause     = 100 * time.Millisecond
	firstPause   = 5 * time.Millisecond
	longestPause = 400 * time.Millisecond
)

// dial meets the listener over TCP, then its endpoint.
func (s *Socket) dial(ctx context.Context, local, addr netip.AddrPort, waits *wait) error {
	pause := firstPause
	for try := 1; ; try++ {
		err := s.dialOnce(ctx, local, addr, waits)
		switch {
		case errors.Is(err, errSentAway):
			waits.sentAway = true
			waits.begin(toAnswer)
		case !errors.Is(err, errHungUp) || try >= dialTries:
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause/2 + rand.N(pause)):
		}
		pause = min(2*pause, longestPause)
	}
}

func (s *Socket) dialOnce(ctx context.Context, local, addr netip.AddrPort, waits *wait) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	waits.begin(toAnswer)
	d := net.Dialer{KeepAlive: -1, Control: linger.None} // the port is free at once; no byte is lost, because the listener sends the last one
	if local.IsValid() {
		d.LocalAddr = net.TCPAddrFromAddrPort(local)
	}
	c, err := d.DialContext(ctx, "tcp", addr.String())
	if err != nil {
		return hungUp(zoneless(addr, err))
	}
	defer c.Close()
	if c.LocalAddr().String() == c.RemoteAddr().String() {
		return tell("nobody listens there, and TCP has connected the port with itself", ECONNREFUSED)
	}
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()

	waits.begin(toGreet)
	ours, theirs := s.proposal(), hello{}
	unsaid := ours.write(c) // the listener may have sent us away already, and said so
	if err := theirs.read(c); err != nil {
		return hungUp(cmp.Or(unsaid, err))
	}
	if err := theirs.accepts(&ours); err != nil {
		return err
	}
	ep := s.l.ep.Load()
	waits.begin(toReach)
	host, _, _ := net.SplitHostPort(c.RemoteAddr().String())
	peer, err := reach(ctx, ep, theirs.endpoint, host)
	switch {
	case err == nil:
	case ctx.Err() == nil && hungup.Within(c.(*net.TCPConn), endPause): // and so its endpoint is gone, too
		return hungUp(io.EOF)
	default:
		return unreached(ep, c, theirs.endpoint, err)
	}
	waits.begin(toBeTaken)
	if err = s.enter(c, peer, &theirs); err == nil {
		if s.concluded() {
			return nil
		}
		err = context.Canceled
	}
	ended := s.leave(local, &ours)
	switch {
	case ended:
		return errSessionEnded
	case errors.Is(hungUp(err), errHungUp):
		return errSentAway
	}
	return err
}

// concluded reports whether the connection that the listener has taken is made: it was not cancelled, and can't be any more.
func (s *Socket) concluded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.joining
	j.made, j.over = !j.cancelled && !j.ended, nil
	return j.made
}

// endSession ends the wait for the listener to take the connection: what identifies this side there is lost with the session.
// One that is made is lost. The lock is held.
func (j *joining) endSession() {
	j.ended = true
	if j.over != nil {
		_ = j.over.SetDeadline(time.Unix(1, 0))
	}
}

// enter makes the connection at the listener's endpoint, and waits until the listener has taken it.
func (s *Socket) enter(c net.Conn, peer mx.EndpointAddr, theirs *hello) error {
	s.mu.Lock()
	s.agree(theirs)
	s.peer = peer
	s.local = addrOf(c.LocalAddr())
	s.joining.found = routeOver(c, peer, theirs)
	s.joining.over, s.joining.ended = c, false
	s.arm()
	s.prepare(theirs)
	err := s.sendControl(ctlOpen, theirs.nonce[:])
	s.mu.Unlock()
	if err != nil {
		return err
	}
	if err := sendDone(c); err != nil {
		return err
	}
	return receiveDone(c)
}

// leave undoes enter. The socket gets another tag, so that messages of the connection that it has given up, such as the listener's
// last one, are not taken for messages of the next connection. It reports whether the session with the listener's endpoint has ended.
func (s *Socket) leave(local netip.AddrPort, ours *hello) (ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reject(ECONNRESET)
	s.sweep(kindPacket, kindIndirect, kindDirect)
	s.l.retag(s)
	s.options.credits, s.options.small = ours.credits, ours.small
	s.peer, s.local, s.out = mx.EndpointAddr{}, local, 0
	s.packets, s.stream, s.special = noPackets, nil, nil
	s.fate, s.torn, s.stops = 0, false, false
	s.joining.over = nil
	return s.joining.ended
}

// errSentAway is why a handshake failed that the listener has evicted.
var errSentAway = tell("the listener has sent this client away: it has too many clients at once, or no file descriptor left for them (ulimit -n)", ECONNREFUSED)

// errSessionEnded is why a handshake failed whose two endpoints are not connected any more: a program has ended that.
var errSessionEnded = tell("the session with the listener's endpoint ended meanwhile (Disconnect or GiveUp of Library.Endpoint)", errHungUp, ECONNRESET)

// errHungUp is the error when the other side closes the connection during the handshake. Programs that do not speak EXS often do
// that, and so does a listener whose last message was lost.
var errHungUp = errors.New("the other side ended the handshake: it is not an exs listener (" + useEXS + "), was closed just now, or has too many clients at once (try again)")

// hungUp replaces an error that is due to such a close.
func hungUp(err error) error {
	if n := errnoOf(err, 0); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || n == ECONNRESET || n == EPIPE {
		return tell(errHungUp.Error(), errHungUp, err)
	}
	return err
}

// accepts returns why the server has refused this client, or nil.
func (h *hello) accepts(ours *hello) error {
	switch {
	case h.endpoint == ours.endpoint && h.conn == ours.conn:
		return tell("the other side is not an exs listener: it sends back what it gets; "+useEXS, errNotEXS)
	case h.verdict == crowded:
		return errSentAway
	case h.verdict == otherVersion || h.version != ours.version:
		return tell(fmt.Sprintf("the listener has version %d of exs, and this side version %d: both need the same", h.version, ours.version), errNotEXS)
	case h.verdict == otherType || h.typ != ours.typ:
		return tell(fmt.Sprintf("the listener has sockets of type %s, and this one is of type %s: both need the same", typeName(h.typ), typeName(ours.typ)), errNotEXS)
	case h.verdict != accepted:
		return tell("the listener has as many sockets as its library can have, or is about to end", ECONNREFUSED)
	}
	return nil
}

// reach connects to the peer's endpoint. If the endpoint's NIC id has no address, the address of the TCP connection is used.
func reach(ctx context.Context, ep *mx.Endpoint, p endpointAddr, host string) (mx.EndpointAddr, error) {
	peer, err := ep.ConnectContext(ctx, p.nic, p.eid, p.filter)
	if errors.Is(err, mx.ErrNICNotFound) {
		if _, lookup := mx.HostnameToNICID(host); lookup == nil {
			return ep.ConnectContext(ctx, p.nic, p.eid, p.filter)
		}
	}
	return peer, err
}

func addrOf(a net.Addr) netip.AddrPort {
	if t, ok := a.(*net.TCPAddr); ok {
		p := t.AddrPort()
		return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
	}
	return netip.AddrPort{}
}

// BlockingConnect connects, and waits without a timeout (9.3).
func (s *Socket) BlockingConnect(addr netip.AddrPort) error {
	return s.Connect(addr, Block, Infinite, nil, nil)
}
