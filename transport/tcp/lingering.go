//go:build linux

package tcp

import (
	"time"

	"gomx/internal/labels"
	"gomx/transport"
	"gomx/transport/tcp/internal/sock"
)

// A socket is reset if it is closed while it holds unread bytes, or if bytes arrive after
// the close. A reset discards the bytes that wait to be sent. So a closed link lingers: it
// sends its buffered output and discards its input, and the socket is closed when the
// peer's host has acknowledged all output. The port waits until all output has left this
// host, as long as its patience lasts. After that the link lingers without the port.
const (
	lingerBound = time.Minute

	closeEvery  = time.Millisecond
	lingerEvery = 20 * time.Millisecond // once nobody waits for it
)

// lingering is the socket of a link that was closed.
type lingering struct {
	fd       int
	left     []byte // to be sent
	finished bool   // the end of our output (FIN) was sent
}

// Linger sets the patience of the close that follows.
func (p *port) Linger(patience transport.Patience) { p.patience = &patience }

// closeLingering takes over the socket of l, and closes it when the output of l has been acknowledged.
func (p *port) closeLingering(l *link) {
	g := &lingering{fd: l.fd}
	switch {
	case l.broken != nil || l.ended != nil:
		sock.Close(l.fd)
		return
	case l.tls != nil:
		g.left = l.tls.unsent()
	default:
		g.left = l.out[l.sent:]
	}
	if g.step() {
		sock.Close(g.fd)
		return
	}
	p.lingering.Add(1)
	patience := transport.NewPatience()
	if p.patience != nil {
		patience = p.patience.Again()
	}
	go func() {
		defer sock.Close(g.fd)
		labels.ForEndpoint("close", p.listener.acceptor.self.Endpoint).Set()
		over := g.leave(patience)
		p.lingering.Done()
		for deadline := time.Now().Add(lingerBound); !over && time.Now().Before(deadline); time.Sleep(lingerEvery) {
			over = g.step()
		}
	}()
}

// leave steps until all output has left this host, or no more of it does. It reports whether the socket can be closed.
func (g *lingering) leave(patience transport.Patience) (over bool) {
	for ; ; time.Sleep(closeEvery) {
		if g.step() {
			return true
		}
		if left := len(g.left) + sock.Unsent(g.fd); left == 0 && g.finished || patience.Over(left) {
			return false
		}
	}
}

// step sends and receives without blocking. It reports whether the socket can be closed: the peer's host has acknowledged
// all output, or has closed the connection.
func (g *lingering) step() bool {
	if len(g.left) > 0 {
		n, errno := sock.Send(g.fd, g.left)
		if errno != 0 && errno != sock.Again {
			return true
		}
		if g.left = g.left[n:]; len(g.left) > 0 {
			return g.drain()
		}
	}
	if !g.finished {
		g.finished = true
		sock.Finish(g.fd)
	}
	return g.drain() || sock.Unacknowledged(g.fd) == 0
}

// drain discards the input, and reports whether the connection has ended.
func (g *lingering) drain() bool {
	var b [4 << 10]byte
	for range 64 {
		n, errno := sock.Recv(g.fd, b[:])
		if n == 0 {
			return errno != sock.Again
		}
	}
	return false
}
