package mpi

import (
	"slices"

	"gomx/mx"
)

// leavings are the remains of a collective: where it has failed at this rank receives of no bytes, in place of those that
// were cancelled or never posted, which drop late messages of the collective; and notices of other ranks that were not
// read.
type leavings struct {
	turn    uint64 // of the collective
	notices uint64 // their bits
	surplus uint64 // the bits, without the source, of messages of which others may send more than this rank receives; 0: there are none
	loose   bool   // some of the messages may never come, and no rank waits for the others
	sinks   []mx.Request
}

const (
	// leavingsKept is how many collectives of a communicator may have left something behind before the receives of loose ones
	// are cancelled. Those of others stay however many there are: their senders may wait for them.
	leavingsKept = 256

	// leavingsLooked is how many tidy looks at.
	leavingsLooked = 1024

	// noticesAge is after how many collectives no notice about one is expected any more. Later ones wait for Free.
	noticesAge = 128

	// leavingsAge is after how many collectives nothing may be left of one: long before its tag comes again.
	leavingsAge = 1 << (tagBits - 1)

	// tidyEvery is how many collectives begin before it is looked what has come of those that have failed.
	tidyEvery = 32
)

// abandon gives up the pending operations. Their buffers are not reused before they have ended: memory of the Go heap
// is dropped, and the arena gets its pieces back when the requests have ended.
func (n *net) abandon() {
	var live []mx.Request
	inUse, ep := false, n.c.seat.ep
	for _, b := range n.pending {
		fate, taken := mx.FateCancelled, b.r.IsZero()
		switch {
		case taken:
		case len(n.large) == 0:
			fate, _, _ = ep.Abandon(b.r)
		default:
			fate = n.c.release(b)
			if fate == mx.FateInUse {
				live = append(live, b.r)
			}
		}
		switch {
		case fate == mx.FateInUse:
			inUse = true
		case fate == mx.FateCancelled && b.want >= 0:
			n.sink(b.peer)
		}
	}
	n.pending = n.pending[:0]
	if inUse {
		clear(n.scratch[:n.used])
	}
	if len(live) > 0 {
		n.c.seat.scratch.hold(n.large, live)
		clear(n.large)
		n.large = n.large[:0]
	}
}

// release is Abandon that keeps the request of an operation that goes on.
func (c *Comm) release(b pendingOp) mx.Fate {
	if _, done, err := c.seat.ep.Look(b.r); done || err != nil {
		return mx.FateEnded
	}
	if b.want >= 0 {
		if taken, err := c.seat.ep.Cancel(b.r); taken || err != nil {
			return mx.FateCancelled
		}
	}
	return mx.FateInUse
}

// sink posts a receive that drops a message that a rank may still send for the collective.
func (n *net) sink(from int) {
	var r mx.Request
	var err error
	ep, match := n.c.seat.ep, n.in|uint64(from)<<rankShift
	if p := n.c.peers[from].Load(); p != nil {
		r, err = ep.IrecvFrom(nil, p.addr, match, mx.MatchMaskNone, nil)
	} else {
		r, err = ep.Irecv(nil, match, mx.MatchMaskNone, nil)
	}
	if err == nil {
		left := n.leaves()
		left.sinks = append(left.sinks, r)
	}
}

// leaves returns the remains of the collective.
func (n *net) leaves() *leavings {
	if n.left == nil {
		n.left = &leavings{turn: n.turn, notices: n.noticeBits()}
	}
	return n.left
}

// leave keeps the remains of a collective.
func (st *commState) leave(n *net) {
	switch over := st.keepLeavings(n.left); {
	case over == nil:
	case over == n.left && !over.loose: // the communicator was freed meanwhile
		n.c.seat.freed.keep(n.c, over)
	default:
		over.end(n.c.seat)
	}
}

// keepLeavings adds remains, and returns those that have to go, or nil.
func (st *commState) keepLeavings(l *leavings) (over *leavings) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.over {
		return l
	}
	if st.leavings = append(st.leavings, l); len(st.leavings) > leavingsKept {
		if i := slices.IndexFunc(st.leavings, func(l *leavings) bool { return l.loose }); i >= 0 {
			over = st.leavings[i]
			st.leavings = slices.Delete(st.leavings, i, i+1)
		}
	}
	st.left.Store(int32(len(st.leavings)))
	return over
}

// tidy checks from time to time which messages have come for failed collectives. turn is that of the collective that
// starts.
func (c *Comm) tidy(turn uint64) {
	if turn%tidyEvery != 0 {
		return
	}
	c.sweep()
	for _, l := range c.state.oldLeavings(c.seat, turn) {
		l.end(c.seat)
	}
}

// sweep drops the messages of which others have sent more than this rank receives.
func (c *Comm) sweep() {
	if c.state.left.Load() == 0 || !c.seat.anyUnexpected() {
		return
	}
	c.state.mu.Lock()
	list := slices.DeleteFunc(slices.Clone(c.state.leavings), func(l *leavings) bool { return l.surplus == 0 })
	c.state.mu.Unlock()
	for _, l := range list {
		l.drop(c.seat)
	}
}

// oldLeavings takes out remains that are over, or too old. It looks at some of them, and the next time at those that follow.
func (st *commState) oldLeavings(s *seat, turn uint64) (old []*leavings) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.tidied >= len(st.leavings) {
		st.tidied = 0
	}
	end := min(st.tidied+leavingsLooked, len(st.leavings))
	kept := st.tidied
	for _, l := range st.leavings[st.tidied:end] {
		if l.over(s) && turn-l.turn > noticesAge || turn-l.turn > leavingsAge {
			old = append(old, l)
		} else {
			st.leavings[kept] = l
			kept++
		}
	}
	st.leavings, st.tidied = slices.Delete(st.leavings, kept, end), kept
	st.left.Store(int32(len(st.leavings)))
	return old
}

// clearLeavings ends the remains of a communicator that is freed, but for those that other ranks may still wait for: they may
// come to the collective later.
func (c *Comm) clearLeavings() {
	st := c.state
	st.mu.Lock()
	list := st.leavings
	st.leavings = nil
	st.left.Store(0)
	st.mu.Unlock()
	for _, l := range list {
		if l.loose {
			l.end(c.seat)
		} else {
			c.seat.freed.keep(c, l)
		}
	}
}

// over collects the receives that have got their message, and reports whether none is left. It makes no progress, since the lock
// of the communicator is held.
func (l *leavings) over(s *seat) bool {
	l.sinks = slices.DeleteFunc(l.sinks, func(r mx.Request) bool {
		_, done, err := s.ep.Look(r)
		return done || err != nil
	})
	return len(l.sinks) == 0
}

// end cancels the receives, and drops the notices.
func (l *leavings) end(s *seat) {
	for _, r := range l.sinks {
		_, _, _ = s.ep.Abandon(r)
	}
	l.drop(s)
}

// drop drops the notices, and what others have sent too much of.
func (l *leavings) drop(s *seat) {
	s.drop(l.notices, mx.MatchMaskNone)
	if l.surplus != 0 {
		s.drop(l.surplus, contextMask|tagMask)
	}
}
