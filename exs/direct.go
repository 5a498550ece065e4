package exs

import (
	"encoding/binary"
	"net"
	"net/netip"

	"gomx/mx"
)

// The first connect to a listener goes over TCP, because its address is a TCP address. A client on the listener's own host connects to it again
// directly: it sends a request to the listener's socket over the endpoints, which are connected by then, and the reply makes the connection. That
// leads to the same listener as TCP does: the TCP connection went from an address to the same address, the listener has the address that the client
// dialled, so that nothing translates it in between, and it keeps that address as long as it answers. The listener knows the client's endpoint from
// TCP, and refuses all others. The client falls back to TCP if anything has changed, or if the listener can't grant the connection at once. The
// errors of such a connect are those of TCP.

// route is how a listener is connected to directly.
type route struct {
	peer   mx.EndpointAddr
	out    uint64         // match information of what goes to the listener, without the kind
	to     netip.AddrPort // the listener's address as TCP has it
	port   uint16         // this side's, of the newest connection
	barred bool           // the listener does not have the address: connects go over TCP
}

// origin is a client that has connected to a listener over TCP, with the listener's address that it dialled.
type origin struct {
	peer mx.EndpointAddr
	to   netip.AddrPort
}

// Sizes of the control messages, with the byte of their kind.
const (
	connectSize = 1 + helloSize + 16 + 2 + 2
	replySize   = 1 + helloSize
)

// connectRequest is the payload of ctlConnect.
type connectRequest struct {
	hello hello
	to    netip.AddrPort // the listener's address
	port  uint16         // the client's, at the same address
}

// encode writes the request to the bytes behind the kind.
func (r *connectRequest) encode(b []byte) {
	r.hello.encode(b)
	ip := r.to.Addr().As16()
	copy(b[helloSize:], ip[:])
	binary.LittleEndian.PutUint16(b[helloSize+16:], r.to.Port())
	binary.LittleEndian.PutUint16(b[helloSize+18:], r.port)
}

func (r *connectRequest) decode(b []byte) error {
	ip := netip.AddrFrom16([16]byte(b[helloSize:])).Unmap()
	r.to = netip.AddrPortFrom(ip, binary.LittleEndian.Uint16(b[helloSize+16:]))
	r.port = binary.LittleEndian.Uint16(b[helloSize+18:])
	return r.hello.decode(b)
}

// sameHost reports whether a TCP connection goes from an address to the same address. Both sides are on one host then.
func sameHost(local, remote netip.AddrPort) bool {
	return local.Addr() == remote.Addr() && local.Addr().Zone() == ""
}

// routeOver returns the route to the listener that c is connected to, or nil if it does not accept direct connects.
func routeOver(c net.Conn, peer mx.EndpointAddr, theirs *hello) *route {
	there := addrOf(c.RemoteAddr())
	if theirs.again&direct == 0 || !sameHost(addrOf(c.LocalAddr()), there) {
		return nil
	}
	name := theirs.again & nameMask
	return &route{peer: peer, out: uint64(name) << tagShift, to: there, port: somePort()}
}

// addRoute stores a route. A route that was barred remains barred.
func (l *Library) addRoute(addr netip.AddrPort, r *route) {
	if r == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if old := l.routes[addr]; old == nil || old.peer != r.peer || old.out != r.out {
		l.routes[addr] = r
	}
}

// routeTo returns the route to an address, with a new port for this side, or nil if there is none.
func (l *Library) routeTo(addr netip.AddrPort) *route {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.routes[addr]
	if r == nil || r.barred {
		return nil
	}
	r.port = nextPort(r.port)
	c := *r
	return &c
}

// elsewhere has the ports of a route counted up from another one: another client may be where they have come to.
func (l *Library) elsewhere(addr netip.AddrPort) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.routes[addr]; r != nil {
		r.port = somePort()
	}
}

// dropRoute bars a route whose listener does not have the address, or removes it if the peer is gone.
func (l *Library) dropRoute(addr netip.AddrPort, r *route, gone bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch now := l.routes[addr]; {
	case now == nil || now.peer != r.peer || now.out != r.out:
	case gone:
		delete(l.routes, addr)
	default:
		now.barred = true
	}
}

// answerFor answers a message to a socket that is gone, if its sender needs an answer: it refuses a request, and resets a
// connection that was granted to the socket.
func (l *Library) answerFor(source mx.EndpointAddr, match uint64, b []byte) {
	if kindOf(match) != kindControl {
		return
	}
	var r connectRequest
	switch {
	case len(b) == connectSize && b[0] == ctlConnect && r.decode(b[1:]) == nil:
		l.reply(source, &r.hello, &hello{version: Version1, verdict: unknown, credits: 1})
	case len(b) == replySize && b[0] == ctlReply && r.hello.decode(b[1:]) == nil && r.hello.verdict == accepted:
		l.reset(source, &r.hello)
	}
}

// reply answers a request.
func (l *Library) reply(to mx.EndpointAddr, asked, h *hello) {
	n := notes.Get().(*note)
	n.b[0] = ctlReply
	h.encode(n.b[1:])
	_ = l.postNote(n, replySize, to, toward(asked.conn, asked.tag)) // the lifeline reports a client that has failed
}

// reset tears down a connection that a listener has granted.
func (l *Library) reset(to mx.EndpointAddr, granted *hello) {
	n := notes.Get().(*note)
	n.b[0] = ctlReset
	_ = l.postNote(n, 1, to, toward(granted.conn, granted.tag))
}
