package exs

import (
	"container/list"
	"context"
	"net"
	"runtime"
	"sync"
)

// strangers is how many that connect to a listener may be in their handshake at once. Beyond that each newcomer gets the place of
// the one who has come least far, and of those of the one who came first. So neither who says nothing nor who says hello and nothing else can
// keep clients out, whose handshake takes less time than so many others need to connect.
const strangers = 1024

// lobby is where those who have connected to a listener are during their handshake.
type lobby struct {
	mu     sync.Mutex
	guests [lastStage + 1]list.List // of *guest, oldest first
	n      int
}

// How far a guest has come.
const (
	silent  = iota
	greeted // it has said hello

	lastStage = greeted
)

// guest is one in its handshake.
type guest struct {
	lobby *lobby
	conn  *net.TCPConn
	life  context.Context // ends when it is sent out, or the listener is closed
	end   context.CancelFunc

	// Under lobby.mu.
	stage int
	place *list.Element // nil: it has left
}

// enter gives a place to c, that of another guest if need be.
func (y *lobby) enter(life context.Context, c *net.TCPConn) *guest {
	g := &guest{lobby: y, conn: c}
	g.life, g.end = context.WithCancel(life)
	y.mu.Lock()
	if y.n >= strangers { // those who have said something that was not read yet come first
		y.mu.Unlock()
		runtime.Gosched()
		y.mu.Lock()
	}
	defer y.mu.Unlock()
	if y.n >= strangers {
		y.sendOut()
	}
	y.n++
	g.place = y.guests[silent].PushBack(g)
	return g
}

// makeRoom sends out a guest, and reports whether there was one.
func (y *lobby) makeRoom() bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.sendOut()
}

func (y *lobby) sendOut() bool {
	for stage := range y.guests {
		if first := y.guests[stage].Front(); first != nil {
			g := first.Value.(*guest)
			g.depart()
			g.end()
			_ = g.conn.Close()
			return true
		}
	}
	return false
}

// depart takes the guest off the list. The lock is held.
func (g *guest) depart() {
	if g.place != nil {
		g.lobby.guests[g.stage].Remove(g.place)
		g.lobby.n--
		g.place = nil
	}
}

// moveOn notes that the guest has said hello.
func (g *guest) moveOn() {
	y := g.lobby
	y.mu.Lock()
	defer y.mu.Unlock()
	if g.place != nil {
		y.guests[g.stage].Remove(g.place)
		g.stage = greeted
		g.place = y.guests[g.stage].PushBack(g)
	}
}

// leave gives the place back: the guest is connected, or gone.
func (g *guest) leave() {
	g.lobby.mu.Lock()
	defer g.lobby.mu.Unlock()
	g.depart()
}
