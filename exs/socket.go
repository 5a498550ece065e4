package exs

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"gomx/exs/internal/life"
	"gomx/mx"
)

// Socket is a listener or an end of a connection (4). After Close all calls on it return EBADF, and so do those on a nil or zero
// Socket.
type Socket struct {
	l      *Library
	domain int
	typ    int
	both   bool // a socket that is bound to all IPv6 addresses is bound to all IPv4 addresses, too

	mu      sync.Mutex
	list    waitList // goroutines that wait for a credit
	life    life.Machine
	options options

	local, remote netip.AddrPort
	post          *post    // the TCP side of a bound socket, except during a connect
	namedBy       *names   // of the listener that has remote for this socket, or nil
	joining       *joining // the connection that is being made, or nil
	peer          mx.EndpointAddr
	out           uint64 // match information of what goes to the peer, without the kind
	conn, tag     uint32 // the name of this socket in messages of the peer

	ops         []*op // all operations
	spare       *op
	outstanding int         // operations
	sending     int         // sends among them
	receiving   int         // receives among them
	ending      []*op       // shutdowns and the close, in order, that wait for earlier operations
	released    bool        // the number was given back
	wrote       bool        // the peer knows that nothing follows
	stops       bool        // the peer accepts no more data
	untaken     int         // last words that the peer has not taken
	linger      *time.Timer // runs while the close waits for them
	lingered    bool        // the close has waited for them for long enough
	fate        Errno       // why the connection is no more, if it was torn down or the peer is gone
	torn        bool        // no data is left to be received

	files   []*fileSend // the first is under way
	packets packets
	stream  *bytesOf
	inHand  uint64                  // match information of the last message that was left to the endpoint, until a receive gets it
	without [2]*Error               // what a send, and a receive, without a credit return
	special *special                // or nil
	lasting atomic.Pointer[lasting] // the memory that PollPersistent looks at
}

// NewSocket creates a socket of the default library (4.1). Errors: EAFNOSUPPORT,
// ESOCKTNOSUPPORT, EPROTONOSUPPORT, ENETDOWN, ENOBUFS for too many sockets.
func NewSocket(domain, typ, protocol int) (*Socket, error) {
	l, err := defaultLibrary("socket")
	if err != nil {
		return nil, err
	}
	return l.Socket(domain, typ, protocol)
}

// Socket is the function NewSocket in this library.
func (l *Library) Socket(domain, typ, protocol int) (*Socket, error) {
	switch {
	case l.none():
		return nil, absent("socket", EINVAL, noLibrary)
	case domain != Inet && domain != Inet6:
		return nil, fail("socket", EAFNOSUPPORT)
	case typ != Stream && typ != SeqPacket:
		return nil, fail("socket", ESOCKTNOSUPPORT)
	case protocol != 0 && protocol != ProtoTCP:
		return nil, fail("socket", EPROTONOSUPPORT)
	}
	s, n := l.fresh(domain, typ)
	switch n {
	case ENETDOWN:
		return nil, &Error{Op: "socket", Errno: n, Cause: errLibraryClosed}
	case ENOBUFS:
		return nil, &Error{Op: "socket", Errno: n, Cause: tell("the library has as many sockets as it can have: close some")}
	}
	return s, fail("socket", n)
}

func (l *Library) fresh(domain, typ int) (*Socket, Errno) {
	s := &Socket{l: l, domain: domain, typ: typ, options: defaults}
	if n := l.enroll(s); n != 0 {
		return nil, n
	}
	s.packets = noPackets
	return s, 0
}

// FD returns the number of the socket, which no other open socket of the library has; -1 if there is no socket.
func (s *Socket) FD() int {
	if s.none() {
		return -1
	}
	return int(s.conn)
}

// Type returns Stream or SeqPacket; 0 if there is no socket.
func (s *Socket) Type() int {
	if s.none() {
		return 0
	}
	return s.typ
}

// SockName returns the address of this side. A socket that was neither bound nor
// connected has the zero address. Error: EBADF.
func (s *Socket) SockName() (netip.AddrPort, error) {
	if n := s.lockFor(life.SockName); n != 0 {
		return netip.AddrPort{}, s.fail("getsockname", n)
	}
	defer s.mu.Unlock()
	return s.local, nil
}

// PeerName returns the address of the other side. Errors: ENOTCONN, EBADF.
func (s *Socket) PeerName() (netip.AddrPort, error) {
	if n := s.lockFor(life.PeerName); n != 0 {
		return netip.AddrPort{}, s.fail("getpeername", n)
	}
	defer s.mu.Unlock()
	return s.remote, nil
}

// lockFor takes the lock if the socket allows the call.
func (s *Socket) lockFor(c life.Call) Errno {
	if s.none() {
		return EBADF
	}
	s.mu.Lock()
	n := s.life.May(c)
	if n != 0 {
		s.mu.Unlock()
	}
	return n
}

// present returns the error of a call on a socket that is closed or none: nothing else that is wrong with the call counts then.
func (s *Socket) present(op string) error {
	if n := s.lockFor(life.Look); n != 0 {
		return s.fail(op, n)
	}
	s.mu.Unlock()
	return nil
}

// fits reports whether an address is one of the socket's domain.
func (s *Socket) fits(a netip.AddrPort) bool {
	if !a.IsValid() {
		return false
	}
	return a.Addr().Unmap().Is4() == (s.domain == Inet) || s.domain == Inet6 && a.Addr().Is4In6()
}

// completed handles a request of the endpoint that has completed for an operation.
func (s *Socket) completed(o *op, r mx.Request, st *mx.Status) {
	s.mu.Lock()
	switch {
	case o.access:
		s.accessed(o, st)
	case s.stream != nil:
		s.streamed(o, r, st)
	case o.receives():
		s.packetIn(o, st)
	default:
		s.packetOut(o, st)
	}
	s.settle()
	s.mu.Unlock()
}

// settle completes shutdowns and the close if all operations before them have ended. The lock is held. Wherever an operation may have
// ended, settle is called before the lock is released.
func (s *Socket) settle() {
	if s.packets.line.len() > 0 {
		s.moveLine()
	}
	if len(s.files) > 0 {
		s.moveFiles()
	}
	if s.special != nil {
		s.moveSpecial()
	}
	for len(s.ending) > 0 && s.settled(s.ending[0]) {
		s.ending = s.ending[1:]
	}
	s.l.pollers.wake()
}
