//go:build linux

package tcp

import (
	"time"

	"gomx/transport/tcp/internal/sock"
)

// A socket that is closed while unread bytes lie in it, or come later, is reset, and
// what waits in it to be sent is lost. So a link that was closed goes on for a
// moment: it sends what is held back, reads what nobody wants, and is gone once
// all is on its way.
const (
	closeBound = 500 * time.Millisecond
	partEvery  = time.Millisecond
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
		defer p.parting.Done()
		g.run()
	}()
}

func (g *parting) run() {
	defer sock.Close(g.fd)
	tick := time.NewTicker(partEvery)
	defer tick.Stop()
	for deadline := time.Now().Add(closeBound); time.Now().Before(deadline); <-tick.C {
		if g.step() {
			return
		}
	}
}

// step does what can be done now, and reports whether the socket can be closed.
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
	return g.drain() || sock.Unsent(g.fd) == 0
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
