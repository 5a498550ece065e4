package exs

import (
	"container/list"
	"context"
	"net"
	"runtime"
	"sync"
	"time"
)

// maxPending bounds the inbound handshakes that are pending at a listener at once. When the limit is reached, a new
// connection evicts the handshake that has made the least progress, and among those the oldest. So neither silent clients
// nor those that stop after their hello can keep others out: a client's handshake takes less time than maxPending others
// need to connect.
const maxPending = 1024

// A process that can open no more files has admitted as many handshakes as it could, and so has left no files for their
// connections to its endpoint. It evicts the later half of the handshakes, whose clients try again. For shortTime it then
// admits no more handshakes than the half that has stayed, and other connections wait in the system's backlog. A handshake
// that has been at one stage for longer than its stay is evicted for one of these.
const (
	shortTime  = time.Second
	acceptWait = 10 * time.Millisecond // until the next try
)

// stay is how long a handshake may be at a stage while there is a shortage of files.
var stay = [lastStage + 1]time.Duration{silent: 100 * time.Millisecond, greeted: time.Second}

// pendingSet holds the inbound handshakes of a listener that are pending.
type pendingSet struct {
	left chan struct{} // a handshake was removed

	mu     sync.Mutex
	stages [lastStage + 1]list.List // of *pendingHandshake, by stage, oldest first
	n      int
	most   int       // handshakes that may be pending, until shortage ends
	ends   time.Time // when the shortage of files is taken to be over
}

// The stages of a pending handshake.
const (
	silent  = iota // nothing was received
	greeted        // the client's hello was received

	lastStage = greeted
)

// pendingHandshake is an inbound connection whose handshake is not done.
type pendingHandshake struct {
	set  *pendingSet
	conn *net.TCPConn
	life context.Context // ends when it is evicted, or the listener is closed
	end  context.CancelFunc

	// Under pendingSet.mu.
	stage   int
	since   time.Time     // it has been at that stage
	element *list.Element // in the list of its stage; nil: it was removed
}

// admit adds c to the set, and evicts another handshake if the set is full.
func (s *pendingSet) admit(life context.Context, c *net.TCPConn) *pendingHandshake {
	h := &pendingHandshake{set: s, conn: c}
	h.life, h.end = context.WithCancel(life)
	s.mu.Lock()
	if s.n >= maxPending { // handshakes whose hello has arrived, and was not read yet, advance first
		s.mu.Unlock()
		runtime.Gosched()
		s.mu.Lock()
	}
	defer s.mu.Unlock()
	if s.n >= maxPending {
		s.evict(s.victim())
	}
	s.n++
	h.since = time.Now()
	h.element = s.stages[silent].PushBack(h)
	return h
}

// isShort notes that no more files can be opened.
func (s *pendingSet) isShort() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most, s.ends = max(s.n/2, 1), time.Now().Add(shortTime)
	for stage := range s.stages {
		for s.n > s.most && s.stages[stage].Len() > 0 {
			s.evict(s.stages[stage].Back().Value.(*pendingHandshake))
		}
	}
}

// awaitVacancy waits, while there is a shortage of files, until another handshake may be admitted. It returns false if
// life ends first.
func (s *pendingSet) awaitVacancy(life context.Context) bool {
	for life.Err() == nil {
		if s.isVacant(time.Now()) {
			return true
		}
		select {
		case <-s.left:
		case <-time.After(acceptWait):
		case <-life.Done():
		}
	}
	return false
}

// isVacant reports whether another handshake may be admitted. It evicts handshakes that are overdue if that makes it so.
func (s *pendingSet) isVacant(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !now.Before(s.ends) {
		return true
	}
	for s.n >= s.most {
		h := s.overdue(now)
		if h == nil {
			return false
		}
		s.evict(h)
	}
	return true
}

// overdue returns a handshake that has been at its stage for longer than its stay, or nil.
func (s *pendingSet) overdue(now time.Time) *pendingHandshake {
	for stage := range s.stages {
		if first := s.stages[stage].Front(); first != nil {
			if h := first.Value.(*pendingHandshake); now.Sub(h.since) > stay[stage] {
				return h
			}
		}
	}
	return nil
}

// victim returns the handshake to evict, or nil.
func (s *pendingSet) victim() *pendingHandshake {
	for stage := range s.stages {
		if first := s.stages[stage].Front(); first != nil {
			return first.Value.(*pendingHandshake)
		}
	}
	return nil
}

// evict removes a handshake and closes its connection. A client that was not greeted gets the reason. One that was greeted
// knows that it has reached a listener.
func (s *pendingSet) evict(h *pendingHandshake) {
	h.unlink()
	if h.stage == silent {
		// The write never blocks: these are the first bytes of the connection.
		_ = (&hello{version: Version1, verdict: crowded, credits: 1}).write(h.conn)
	}
	h.end()
	_ = h.conn.Close()
}

// unlink takes the handshake out of its list. The set's lock is held.
func (h *pendingHandshake) unlink() {
	if h.element != nil {
		h.set.stages[h.stage].Remove(h.element)
		h.set.n--
		h.element = nil
	}
}

// advance notes that the client's hello was received.
func (h *pendingHandshake) advance() {
	s := h.set
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.element != nil {
		s.stages[h.stage].Remove(h.element)
		h.stage, h.since = greeted, time.Now()
		h.element = s.stages[h.stage].PushBack(h)
	}
}

// remove takes the handshake out of the set, when it is done or has failed.
func (h *pendingHandshake) remove() {
	h.set.mu.Lock()
	defer h.set.mu.Unlock()
	h.unlink()
	select {
	case h.set.left <- struct{}{}:
	default:
	}
}
