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

// maxPending bounds the inbound handshakes that are pending at once. Other
// connections wait in the socket's backlog. When the limit is reached, a new
// connection evicts the handshake that has made the least progress, and among those
// the one that has made none for longest. So neither silent peers nor slow ones can
// keep others out. A handshake that has advanced within leastStay is not evicted, nor
// is one whose peer has sent bytes that we have not read yet.
const (
	maxPending = 64
	leastStay  = 100 * time.Millisecond
)

// errEvicted is why an evicted handshake failed.
var errEvicted = errors.New("its handshake was slow, and was evicted for another peer")

// pendingSet holds the inbound handshakes that are pending.
type pendingSet struct {
	left chan struct{} // a handshake was removed

	mu  sync.Mutex
	all map[*pendingHandshake]struct{}
}

// pendingHandshake is an inbound connection whose handshake is not done.
type pendingHandshake struct {
	pending *pendingSet
	conn    *net.TCPConn
	came    time.Time

	// Under pendingSet.mu.
	stage   int // steps of the handshake that are done
	since   time.Time
	evicted bool // closed in favour of another one
}

func newPendingSet() *pendingSet {
	return &pendingSet{left: make(chan struct{}, 1), all: map[*pendingHandshake]struct{}{}}
}

// admit adds c to the set, after waiting until that is possible. It returns nil if
// life ends first.
func (s *pendingSet) admit(life context.Context, c *net.TCPConn) *pendingHandshake {
	for {
		h, again := s.tryAdmit(c, time.Now())
		if h != nil {
			return h
		}
		select {
		case <-s.left:
		case <-time.After(again):
		case <-life.Done():
			return nil
		}
	}
}

// tryAdmit adds c to the set, and evicts another handshake if the set is full. If
// none may be evicted, it returns nil and how long to wait before the next try.
func (s *pendingSet) tryAdmit(c *net.TCPConn, now time.Time) (*pendingHandshake, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) == maxPending {
		victim, again := s.victim(now)
		if victim == nil {
			return nil, again
		}
		victim.evicted = true
		_ = victim.conn.Close()
		delete(s.all, victim)
	}
	h := &pendingHandshake{pending: s, conn: c, came: now, since: now}
	s.all[h] = struct{}{}
	return h, 0
}

// victim returns the handshake to evict, or nil and when there may be one.
func (s *pendingSet) victim(now time.Time) (victim *pendingHandshake, again time.Duration) {
	again = leastStay
	for h := range s.all {
		stays := leastStay - now.Sub(h.since)
		switch {
		case stays > 0:
			again = min(again, stays)
		case victim != nil && !h.behind(victim):
		case sock.Unread(h.conn):
			again = min(again, acceptAgain) // we have to read them first
		default:
			victim = h
		}
	}
	return victim, again
}

// behind reports whether h is to be evicted before other: it has done fewer steps, or
// as many and the last one longer ago.
func (h *pendingHandshake) behind(other *pendingHandshake) bool {
	if h.stage != other.stage {
		return h.stage < other.stage
	}
	return h.since.Before(other.since)
}

// advance notes that the peer has completed a step of the handshake.
func (h *pendingHandshake) advance() {
	h.pending.mu.Lock()
	defer h.pending.mu.Unlock()
	h.stage++
	h.since = time.Now()
}

// remove takes the handshake out of the set. It returns errEvicted if it was evicted.
func (h *pendingHandshake) remove() error {
	s := h.pending
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.evicted {
		return errEvicted
	}
	delete(s.all, h)
	select {
	case s.left <- struct{}{}:
	default:
	}
	return nil
}
