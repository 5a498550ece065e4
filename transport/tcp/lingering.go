//go:build linux

package tcp

import (
	"time"

	"gomx/transport/tcp/internal/sock"
)

// A socket that is closed while unread bytes lie in it, or come later, is reset, and
// what waits in it to be sent is lost. So a link that was closed goes on for a
// while: it sends what is held back, reads what nobody wants, and is gone once the
// peer's host has confirmed all of it. The port waits only until all is on its way, and
// no longer than closeBound; then the link goes on by itself.
const (
	closeBound  = 500 * time.Millisecond
	lingerBound = time.Minute

	partEvery   = time.Millisecond
	lingerEvery = 20 * time.Millisecond // once nobody waits for it
)

// parting is the socket of a link that was closed.
type parting struct {
	fd       int
	left     []byte // to be sent
	finished bool   // the peer knows that no more comes
}

// part takes the socket over from l.
func (p *port) part(l *link) {
	g := &parting{fd: l.fd}
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
	p.parting.Add(1)
	go func() {
		defer sock.Close(g.fd)
		over := g.goOn(closeBound, partEvery, func() bool { return sock.Unsent(g.fd) == 0 })
		p.parting.Done()
		if !over {
			g.goOn(lingerBound, lingerEvery, func() bool { return false })
		}
	}()
}

// goOn steps until the socket can be closed, which it reports, and no longer than until enough says so or the bound.
func (g *parting) goOn(bound, every time.Duration, enough func() bool) (over bool) {
	for deadline := time.Now().Add(bound); !g.finished || !enough(); time.Sleep(every) {
		if g.step() {
			return true
		}
		if time.Now().After(deadline) {
			break
		}
	}
	return false
}

// step does what can be done now, and reports whether the socket can be closed: the peer's host has all, or is gone.
func (g *parting) step() bool {
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

// drain throws away what has come, and reports whether the peer is gone.
func (g *parting) drain() bool {
	var b [4 << 10]byte
	for range 64 {
		n, errno := sock.Recv(g.fd, b[:])
		if n == 0 {
			return errno != sock.Again
		}
	}
	return false
}
