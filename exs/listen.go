package exs

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"gomx/exs/internal/errno"
	"gomx/exs/internal/life"
)

// strangers is how many that connect to a listener may be in their handshake at once.
// Others wait in the queue of the system.
const strangers = 64

// shakeTime bounds what a stranger may take to say hello.
const shakeTime = 3 * time.Second

// post is the TCP side of a bound socket.
type post struct {
	ln    *net.TCPListener
	life  context.Context
	end   context.CancelFunc
	gate  sync.Cond // on the socket's lock: whether the next one may come in
	open  bool      // Accept was called
	most  int       // connections that may wait for an Accept
	ready []*Socket // connected, and not accepted
	asked []*op     // accepts
	shake int       // handshakes under way
}

func errnoOf(err error, otherwise Errno) Errno { return errno.Of(err, otherwise) }

// Bind gives the socket an address (4.3.1). Port 0 becomes a free one, which
// SockName tells. Clients may come from now on, and wait until Accept. Errors: EADDRINUSE,
// EAFNOSUPPORT, EINVAL if it has one, EBADF, and what the system says.
func (s *Socket) Bind(addr netip.AddrPort) error {
	if n := s.lockFor(life.Bind); n != 0 {
		return fail("bind", n)
	}
	defer s.mu.Unlock()
	if !s.fits(addr) {
		return fail("bind", EAFNOSUPPORT)
	}
	network := "tcp4"
	if s.domain == Inet6 {
		network = "tcp6"
	}
	ln, err := net.ListenTCP(network, net.TCPAddrFromAddrPort(addr))
	if err != nil {
		return failed("bind "+addr.String(), err, EINVAL)
	}
	p := &post{ln: ln}
	p.gate.L = &s.mu
	p.life, p.end = context.WithCancel(context.Background())
	s.post, s.local = p, addrOf(ln.Addr())
	s.life.Bind()
	return nil
}

// unpost gives the listening port back for a socket that connects from it, and returns
// the address.
func (s *Socket) unpost() netip.AddrPort {
	if s.post == nil {
		return s.local
	}
	s.post.end()
	_ = s.post.ln.Close()
	s.post = nil
	return s.local
}

// Listen makes the socket a listening post (4.3.1). As many connections as backlog, and
// at least one, are made before there is an Accept for them; others wait. Calling it
// again changes the backlog. Errors: EDESTADDRREQ without Bind, EINVAL, EBADF, ENETDOWN.
func (s *Socket) Listen(backlog int) error {
	if s != nil {
		if _, err := s.l.Endpoint(); err != nil {
			return err
		}
	}
	if n := s.lockFor(life.Listen); n != 0 {
		return fail("listen", n)
	}
	defer s.mu.Unlock()
	first := s.life.State() != life.Listening
	s.post.most = max(backlog, 1)
	s.life.Listen()
	if first {
		p := s.post
		s.l.work.Go(func() { s.receive(p) })
	}
	s.post.gate.Broadcast()
	return nil
}

// receive lets strangers in while there is room.
func (s *Socket) receive(p *post) {
	for {
		s.mu.Lock()
		for p.life.Err() == nil && (!p.open || p.shake == strangers || len(p.ready) >= p.most+len(p.asked)) {
			p.gate.Wait()
		}
		ended := p.life.Err() != nil
		s.mu.Unlock()
		if ended {
			return
		}
		c, err := p.ln.AcceptTCP()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			select { // too many open files, most likely
			case <-p.life.Done():
			case <-time.After(10 * time.Millisecond):
			}
			continue
		}
		s.mu.Lock()
		p.shake++
		s.mu.Unlock()
		s.l.work.Go(func() { s.welcome(p, c) })
	}
}

// welcome talks to one that has connected.
func (s *Socket) welcome(p *post, c *net.TCPConn) {
	defer c.Close()
	defer context.AfterFunc(p.life, func() { _ = c.Close() })()
	n, err := s.greet(p, c)
	if errors.Is(err, errStranger) || errors.Is(err, io.ErrUnexpectedEOF) || errnoOf(err, 0) == ETIMEDOUT {
		s.l.counts.strangers.Add(1)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.shake--
	switch {
	case n == nil:
	case err != nil || p.life.Err() != nil:
		s.l.work.Go(n.discard)
	default:
		p.ready = append(p.ready, n)
		s.handOut()
		s.settle()
	}
	p.gate.Broadcast()
}

// greet makes the connection. A socket that comes with an error is to be thrown away.
func (s *Socket) greet(p *post, c *net.TCPConn) (*Socket, error) {
	_ = c.SetDeadline(time.Now().Add(shakeTime))
	var theirs hello
	if err := theirs.read(c); err != nil {
		return nil, err
	}
	n, refusal := s.child(&theirs)
	if refusal != welcome {
		ours := hello{version: Version1, typ: s.typ, verdict: refusal, credits: 1}
		return nil, ours.write(c)
	}
	n.mu.Lock()
	n.local, n.remote = addrOf(c.LocalAddr()), addrOf(c.RemoteAddr())
	ours := n.proposal()
	ours.nonce = n.joining.nonce
	met := n.joining.met
	n.mu.Unlock()
	if err := ours.write(c); err != nil {
		return n, err
	}
	_ = c.SetDeadline(time.Now().Add(setupTime))
	if err := hearDone(c); err != nil {
		return n, err
	}
	late := time.NewTimer(setupTime)
	defer late.Stop()
	select {
	case <-met:
	case <-late.C:
		return n, ETIMEDOUT
	case <-p.life.Done():
		return n, net.ErrClosed
	}
	return n, sayDone(c)
}

// child makes the socket of a new connection, or says why there is none.
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
	s.mu.Lock()
	n.options = s.options
	s.mu.Unlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.life.Connect()
	n.agree(h)
	n.joining = &joining{stop: func() {}, nonce: newNonce(), met: make(chan struct{}), theirs: h}
	return n, welcome
}
