package exs

import (
	"container/list"
	"context"
	"net"
	"runtime"
	"sync"
	"time"
)

// strangers is how many that connect to a listener may be in their handshake at once. Beyond that each newcomer gets the place of
// the one who has come least far, and of those of the one who came first. So neither who says nothing nor who says hello and nothing else can
// keep clients out, whose handshake takes less time than so many others need to connect.
const strangers = 1024

// A process that can open no more files has taken as many guests as it could, and so left nothing for their connections to its endpoint, which need files
// too. It sends out the later half of them, which comes again, and for shortTime lets newcomers wait at the system's door while there are as many as the
// half that has stayed. Of these it sends out who keeps the others waiting: who has been at one stage for longer than its stay.
const (
	shortTime  = time.Second
	acceptWait = 10 * time.Millisecond // until the next try
)

// stay is how long a guest may be at a stage while there is a shortage of files.
var stay = [lastStage + 1]time.Duration{silent: 100 * time.Millisecond, greeted: time.Second}

// lobby is where those who have connected to a listener are during their handshake.
type lobby struct {
	left chan struct{} // somebody has

	mu     sync.Mutex
	guests [lastStage + 1]list.List // of *guest, oldest first
	n      int
	most   int       // that may be here until
	ends   time.Time // the shortage of files is taken to be over
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
	since time.Time     // it has been at that stage
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
		y.sendOut(y.first())
	}
	y.n++
	g.since = time.Now()
	g.place = y.guests[silent].PushBack(g)
	return g
}

// isShort notes that no more files can be opened.
func (y *lobby) isShort() {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.most, y.ends = max(y.n/2, 1), time.Now().Add(shortTime)
	for stage := range y.guests {
		for y.n > y.most && y.guests[stage].Len() > 0 {
			y.sendOut(y.guests[stage].Back().Value.(*guest))
		}
	}
}

// vacant waits, while there is a shortage of files, until there is a place for a newcomer. It reports whether there is one: life has not ended before.
func (y *lobby) vacant(life context.Context) bool {
	for life.Err() == nil {
		if y.hasPlace(time.Now()) {
			return true
		}
		select {
		case <-y.left:
		case <-time.After(acceptWait):
		case <-life.Done():
		}
	}
	return false
}

// hasPlace reports whether a newcomer may come in, for whom it sends out those who have been here for too long.
func (y *lobby) hasPlace(now time.Time) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	if !now.Before(y.ends) {
		return true
	}
	for y.n >= y.most {
		g := y.tarries(now)
		if g == nil {
			return false
		}
		y.sendOut(g)
	}
	return true
}

// tarries returns a guest who has been at its stage for too long, or nil.
func (y *lobby) tarries(now time.Time) *guest {
	for stage := range y.guests {
		if first := y.guests[stage].Front(); first != nil {
			if g := first.Value.(*guest); now.Sub(g.since) > stay[stage] {
				return g
			}
		}
	}
	return nil
}

// first returns the guest who has come least far, and of those the one who came first.
func (y *lobby) first() *guest {
	for stage := range y.guests {
		if first := y.guests[stage].Front(); first != nil {
			return first.Value.(*guest)
		}
	}
	return nil
}

// sendOut sends a guest out. One that was not greeted is told why; who was knows that it has met a listener.
func (y *lobby) sendOut(g *guest) {
	g.depart()
	if g.stage == silent {
		_ = (&hello{version: Version1, verdict: crowded, credits: 1}).write(g.conn) // which never waits: it is the first that is said
	}
	g.end()
	_ = g.conn.Close()
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
		g.stage, g.since = greeted, time.Now()
		g.place = y.guests[g.stage].PushBack(g)
	}
}

// leave gives the place back: the guest is connected, or gone.
func (g *guest) leave() {
	g.lobby.mu.Lock()
	defer g.lobby.mu.Unlock()
	g.depart()
	select {
	case g.lobby.left <- struct{}{}:
	default:
	}
}
