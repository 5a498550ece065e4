//go:build linux

package tcp

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"gomx/transport/tcp/internal/sock"
)

// handshakes is how many strangers may be talking to us at once. Others wait in
// the socket's backlog. When all places are taken, a newcomer gets that of the
// guest who has come least far and has been there longest. So neither those who
// say nothing nor those who say a little can keep peers out. Whoever has moved on
// within leastStay, or has said what we did not read yet, stays.
const (
	handshakes = 64
	leastStay  = 100 * time.Millisecond
)

// errCrowded is why a guest had to leave.
var errCrowded = errors.New("it was slow, and others wanted its place")

// lobby is where strangers are during their handshake.
type lobby struct {
	left chan struct{} // somebody has

	mu     sync.Mutex
	guests map[*guest]struct{}
}

// guest is a stranger during the handshake.
type guest struct {
	lobby *lobby
	conn  *net.TCPConn
	came  time.Time

	// Under lobby.mu.
	stage  int // how often it has moved on
	since  time.Time
	thrown bool // out, for another one
}

func newLobby() *lobby {
	return &lobby{left: make(chan struct{}, 1), guests: map[*guest]struct{}{}}
}

// enter gives a place to c. It waits until there is one, and returns nil if life
// ends before.
func (y *lobby) enter(life context.Context, c *net.TCPConn) *guest {
	for {
		g, again := y.admit(c, time.Now())
		if g != nil {
			return g
		}
		select {
		case <-y.left:
		case <-time.After(again):
		case <-life.Done():
			return nil
		}
	}
}

// admit gives a place to c, that of another guest if need be. Without a place it
// returns when to ask again.
func (y *lobby) admit(c *net.TCPConn, now time.Time) (*guest, time.Duration) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if len(y.guests) == handshakes {
		last, again := y.last(now)
		if last == nil {
			return nil, again
		}
		last.thrown = true
		_ = last.conn.Close()
		delete(y.guests, last)
	}
	g := &guest{lobby: y, conn: c, came: now, since: now}
	y.guests[g] = struct{}{}
	return g, 0
}

// last returns the guest who has to make room, or when there may be one.
func (y *lobby) last(now time.Time) (last *guest, again time.Duration) {
	again = leastStay
	for g := range y.guests {
		stays := leastStay - now.Sub(g.since)
		switch {
		case stays > 0:
			again = min(again, stays)
		case last != nil && !g.behind(last):
		case sock.Unread(g.conn):
			again = min(again, acceptAgain) // it is our turn
		default:
			last = g
		}
	}
	return last, again
}

// behind reports whether g has come less far than o, or as far and stays longer.
func (g *guest) behind(o *guest) bool {
	if g.stage != o.stage {
		return g.stage < o.stage
	}
	return g.since.Before(o.since)
}

// moveOn notes that the guest has done a part of the handshake.
func (g *guest) moveOn() {
	g.lobby.mu.Lock()
	defer g.lobby.mu.Unlock()
	g.stage++
	g.since = time.Now()
}

// leave gives the place back. It returns errCrowded if the guest was thrown out.
func (g *guest) leave() error {
	y := g.lobby
	y.mu.Lock()
	defer y.mu.Unlock()
	if g.thrown {
		return errCrowded
	}
	delete(y.guests, g)
	select {
	case y.left <- struct{}{}:
	default:
	}
	return nil
}
