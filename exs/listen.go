package exs

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"gomx/exs/internal/errno"
	"gomx/exs/internal/hungup"
	"gomx/exs/internal/life"
)

// shakeTime bounds the time until a client's hello is received.
const shakeTime = 3 * time.Second

// post is the TCP side of a bound socket.
type post struct {
	ln        *net.TCPListener
	life      context.Context
	end       context.CancelFunc
	admission sync.Cond       // on the socket's lock: another handshake may be admitted
	open      bool            // Accept was called
	most      int             // connections that may wait for an Accept
	ready     []*Socket       // connections that were not accepted yet
	asked     []*op           // accepts that wait
	due       int             // connections that will be ready in a moment
	turns     int             // clients that wait until the queue of connections is no longer full
	told      time.Time       // when an accept was last ended with the reason why no client can connect
	known     map[origin]bool // clients that may connect directly, with the listener's address that they have dialled
	names     *names          // of those that are connected so
	pending   pendingSet
}

func errnoOf(err error, otherwise Errno) Errno { return errno.Of(err, otherwise) }

// Bind gives the socket an address (4.3.1). Port 0 stands for a free port, which SockName returns. Clients may connect from now
// on, and wait until Accept. Errors: EADDRINUSE,
// EAFNOSUPPORT, EINVAL if it has an address already, EBADF, and errors of the system.
func (s *Socket) Bind(addr netip.AddrPort) error {
	if n := s.lockFor(life.Bind); n != 0 {
		return s.unfit("bind", n, isBound)
	}
	defer s.mu.Unlock()
	if !s.fits(addr) {
		return fail("bind", EAFNOSUPPORT)
	}
	if err := s.openPost(addr); err != nil {
		return failed("bind "+addr.String(), err, EINVAL)
	}
	s.life.Bind()
	return nil
}

// openPost makes the socket accept TCP connections at an address. The lock is held.
func (s *Socket) openPost(addr netip.AddrPort) error {
	network := "tcp4"
	if s.domain == Inet6 {
		network = "tcp6"
	}
	at := net.TCPAddrFromAddrPort(addr)
	if s.both {
		network, at = "tcp", &net.TCPAddr{Port: at.Port} // only IPv4 on a host without IPv6
	}
	ln, err := net.ListenTCP(network, at)
	if err != nil {
		return zoneless(addr, err)
	}
	p := &post{ln: ln, pending: pendingSet{left: make(chan struct{}, 1)}}
	p.admission.L = &s.mu
	p.life, p.end = context.WithCancel(context.Background())
	s.post, s.local = p, addrOf(ln.Addr())
	if zone := addr.Addr().Zone(); zone != "" { // not every system returns the zone
		s.local = netip.AddrPortFrom(s.local.Addr().WithZone(zone), s.local.Port())
	}
	return nil
}

// unpost releases the port of a bound socket that is about to connect from it, and returns the address.
func (s *Socket) unpost() netip.AddrPort {
	if s.post == nil {
		return s.local
	}
	s.post.end()
	_ = s.post.ln.Close()
	s.post = nil
	return s.local
}

// Listen makes the socket a listening post (4.3.1). Clients wait until the first Accept. From then on as many
// connections as backlog, and at least one, are made before there is an Accept for them; others wait. Calling it
// again changes the backlog. Errors: EDESTADDRREQ without Bind, EINVAL, EBADF, ENETDOWN; EADDRINUSE if somebody has
// taken the port during a Connect that failed.
func (s *Socket) Listen(backlog int) error {
	if !s.none() {
		if _, err := s.l.Endpoint(); err != nil {
			return err
		}
	}
	if n := s.lockFor(life.Listen); n != 0 {
		return s.unfit("listen", n, isTaken)
	}
	defer s.mu.Unlock()
	if s.post == nil {
		if err := s.openPost(s.local); err != nil {
			return failed("listen at "+s.local.String(), err, EINVAL)
		}
	}
	first := s.life.State() != life.Listening
	s.post.most = max(backlog, 1)
	s.life.Listen()
	if first {
		p := s.post
		s.l.start(func() { s.receive(p) })
	}
	s.post.admission.Broadcast()
	return nil
}

// mostTurns is how many clients are greeted when the queue of connections is full, so that they can distinguish that from a
// listener that does not answer.
const mostTurns = 16

// receive accepts TCP connections and begins their handshakes, while more may be pending.
func (s *Socket) receive(p *post) {
	for {
		s.mu.Lock()
		for p.life.Err() == nil && (!p.open || p.full() && p.turns >= mostTurns) {
			p.admission.Wait()
		}
		ended := p.life.Err() != nil
		s.mu.Unlock()
		if ended || !p.pending.awaitVacancy(p.life) {
			return
		}
		c, err := p.ln.AcceptTCP()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			s.noteShortage(p, err) // of files, most likely
			select {
			case <-p.life.Done():
			case <-time.After(acceptWait):
			}
			continue
		}
		h := p.pending.admit(p.life, c)
		s.l.start(func() { s.finishHandshake(p, h) })
	}
}

// noteShortage notes why no client can connect at the moment.
func (s *Socket) noteShortage(p *post, err error) {
	p.pending.isShort()
	s.tellOf(p, err)
}

// tellEvery is the least time between two accepts that end because no client can connect.
const tellEvery = time.Second

// tellOf ends an accept, if the program waits in one, with the reason why no client can connect at the moment. Clients wait.
func (s *Socket) tellOf(p *post, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(p.asked) == 0 || p.life.Err() != nil || time.Since(p.told) < tellEvery {
		return
	}
	p.told = time.Now()
	o := p.asked[0]
	p.asked = p.asked[1:]
	n := errnoOf(err, EIO)
	if o.extra.cause = err; outOfFiles(n) {
		o.extra.cause = errors.New(noFiles)
	}
	s.finish(o, n)
	s.settle()
}

// full reports whether there are as many connections as may wait for an Accept. The socket's lock is held.
func (p *post) full() bool { return len(p.ready)+p.due >= p.most+len(p.asked) }

// finishHandshake does a pending handshake, and queues the socket that it makes for Accept.
func (s *Socket) finishHandshake(p *post, h *pendingHandshake) {
	defer h.end()
	defer h.conn.Close()
	defer context.AfterFunc(p.life, func() { _ = h.conn.Close() })()
	n, err := s.handshake(h)
	h.remove()
	if errors.Is(err, errNotEXS) || errors.Is(err, io.ErrUnexpectedEOF) || errnoOf(err, 0) == ETIMEDOUT {
		s.l.counts.strangers.Add(1)
	}
	if outOfFiles(errnoOf(err, 0)) {
		s.noteShortage(p, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && n != nil {
		p.allow(n) // before the client learns that it is connected, and connects again
		err = s.inTurn(p, h.conn)
	}
	switch {
	case n == nil:
	case err != nil || p.life.Err() != nil:
		s.l.start(n.discard)
	default:
		p.ready = append(p.ready, n)
		s.handOut()
		s.settle()
	}
	p.admission.Broadcast()
	s.l.keepProgress()
}

// handshake makes the socket of a connection. The client is not told yet that it is connected. The caller discards a
// socket that is returned with an error.
func (s *Socket) handshake(h *pendingHandshake) (*Socket, error) {
	c := h.conn
	_ = c.SetDeadline(time.Now().Add(shakeTime))
	var theirs hello
	if err := theirs.read(c); err != nil {
		return nil, err
	}
	h.advance()
	if lack := s.l.lackOfFiles(theirs.endpoint); lack != nil {
		return nil, cmp.Or(s.turnDown(c, crowded), lack)
	}
	s.mu.Lock()
	n, refusal := s.child(&theirs)
	s.mu.Unlock()
	if refusal != accepted {
		return nil, s.turnDown(c, refusal)
	}
	j := &joining{stop: func() {}, nonce: newNonce(), waiter: s.l.ep.Load().NewWaiter(), pending: h, theirs: &theirs}
	n.mu.Lock()
	n.joining = j
	n.local, n.remote = addrOf(c.LocalAddr()), addrOf(c.RemoteAddr())
	ours := n.proposal()
	if sameHost(n.local, n.remote) {
		ours.again = direct | nameOf(s.conn, s.tag)
	}
	n.mu.Unlock()
	ours.nonce = j.nonce
	if err := ours.write(c); err != nil {
		return n, err
	}
	_ = c.SetDeadline(time.Now().Add(setupTime))
	return n, j.await(h.life, c)
}

// turnDown tells a client why there is no connection.
func (s *Socket) turnDown(c net.Conn, why verdict) error {
	ours := hello{version: Version1, typ: s.typ, verdict: why, credits: 1}
	return ours.write(c)
}

// await waits until the client is identified and done. It waits in the endpoint as well as at the client's TCP connection.
// If it waited at the TCP connection alone, the client's connect to the endpoint would be handled milliseconds later, by
// the endpoint's own goroutine.
func (j *joining) await(life context.Context, c *net.TCPConn) error {
	life, stop := context.WithCancel(life)
	defer stop()
	identified := make(chan error, 1)
	go func() { identified <- j.awaitIdentity(life) }()
	err := receiveDone(c)
	if err != nil {
		stop()
	}
	return cmp.Or(err, <-identified)
}

// awaitIdentity waits in the endpoint until the client has sent its identity over it.
func (j *joining) awaitIdentity(life context.Context) error {
	defer context.AfterFunc(life, j.waiter.Wake)()
	for end := time.Now().Add(setupTime); !j.identified.Load(); {
		left := time.Until(end)
		switch {
		case life.Err() != nil:
			return net.ErrClosed
		case left <= 0:
			return ETIMEDOUT
		}
		if _, err := j.waiter.Wait(left); err != nil {
			return net.ErrClosed // the library was closed
		}
	}
	return nil
}

// departing is how long it may take on a busy machine until the listener learns that a client has given up.
const departing = 2 * time.Millisecond

// inTurn waits until the queue of connections has room, and then tells the client that it is connected. The lock is held, and
// released during the wait.
func (s *Socket) inTurn(p *post, c *net.TCPConn) error {
	waited := p.full()
	p.turns++
	for p.life.Err() == nil && p.full() {
		p.admission.Wait()
	}
	p.turns--
	p.admission.Broadcast()
	p.due++
	s.mu.Unlock()
	if waited && !hungup.By(c) {
		time.Sleep(departing)
	}
	err := error(io.EOF)
	if !hungup.By(c) {
		_ = c.SetDeadline(time.Now().Add(setupTime))
		err = sendDone(c)
	}
	s.mu.Lock()
	p.due--
	return err
}

// child makes the socket of a new connection, or returns why there is none. The lock is held.
func (s *Socket) child(h *hello) (*Socket, verdict) {
	switch {
	case h.version != Version1:
		return nil, otherVersion
	case h.typ != s.typ:
		return nil, otherType
	}
	n, refused := s.l.fresh(s.domain, s.typ)
	if refused != 0 {
		return nil, noRoom
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.options = s.options
	n.life.Connect()
	n.agree(h)
	return n, accepted
}
