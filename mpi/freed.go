package mpi

import (
	"slices"
	"sync"
)

// freedKept is the number of freed communicators whose late messages a rank drops.
const freedKept = 16

// freedContexts are the contexts of the communicators that were freed last, the oldest first from next on; and what is left
// of freed ones on which this rank has given up collectives that others may still come to.
type freedContexts struct {
	mu   sync.Mutex
	list []uint32
	next int
	left []freedLeft
}

// freedLeft is what is left of a collective of a freed communicator.
type freedLeft struct {
	*leavings
	made  uint64  // the turn of the communicator's context
	world []int32 // its ranks
}

// keep keeps the remains of a collective until its messages have come, or can't come any more.
func (f *freedContexts) keep(of *Comm, l *leavings) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left = append(f.left, freedLeft{l, of.state.made, of.world})
}

// oldest returns the turn of the first communicator after asked of which something is left, and of the first of all; noTurn if there is
// none. It looks at those all whose ranks are in world.
func (f *freedContexts) oldest(asked uint64, world []int32) (after, first uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	after, first = noTurn, noTurn
	for _, l := range f.left {
		better := l.made < first || l.made > asked && l.made < after
		if !better || !within(l.world, world) {
			continue
		}
		if first = min(first, l.made); l.made > asked {
			after = min(after, l.made)
		}
	}
	return after, first
}

// within reports whether all of some ranks are among others.
func within(some, others []int32) bool {
	return len(some) <= len(others) && !slices.ContainsFunc(some, func(r int32) bool { return !slices.Contains(others, r) })
}

// take returns what is left of the communicator of a turn whose ranks are in world, and forgets it.
func (f *freedContexts) take(made uint64, world []int32) (taken []*leavings) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left = slices.DeleteFunc(f.left, func(l freedLeft) bool {
		if l.made != made || !within(l.world, world) {
			return false
		}
		taken = append(taken, l.leavings)
		return true
	})
	return taken
}

// contexts returns the contexts whose late messages are to be dropped. It forgets remains whose messages have come.
func (f *freedContexts) contexts(s *seat) []uint32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left = slices.DeleteFunc(f.left, func(l freedLeft) bool { return l.over(s) })
	return slices.Clone(f.list)
}

// endFreed ends what is left of a freed communicator, which all its ranks have given back.
func (c *Comm) endFreed(made uint64) {
	for _, l := range c.seat.freed.take(made, c.world) {
		l.end(c.seat)
	}
}

func (f *freedContexts) add(context uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.list) < freedKept {
		f.list = append(f.list, context)
		return
	}
	f.list[f.next] = context
	f.next = (f.next + 1) % freedKept
}

// holds notes what Free does not end: a nonblocking collective, or a notice that waits for a rank to connect.
func (st *commState) holds() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.holders++
}

// ends notes the end of so many of these, and reports whether the communicator was freed and nothing holds it any more.
func (st *commState) ends(holders int) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.holders -= holders
	if st.holders > 0 || st.over || !st.freed.Load() {
		return false
	}
	st.over = true
	return true
}

// forget drops messages of a freed communicator that were not received, and gives its context back.
func (s *seat) forget(c *Comm) {
	s.uncount(c)
	c.clearLeavings()
	s.freed.add(c.state.context)
	s.dropFreed()
	s.ids.giveBack(c.state.context)
}

// dropFreed drops messages of freed communicators. They would otherwise stay in the endpoint's buffer of unexpected
// messages, and a sender might wait for them.
func (s *seat) dropFreed() {
	contexts := s.freed.contexts(s)
	if !s.anyUnexpected() {
		return
	}
	for _, context := range contexts {
		s.dropContext(context)
	}
}

// dropContext drops what has come under a context that is not in use.
func (s *seat) dropContext(context uint32) {
	s.drop(bitsOf(context, 0), contextMask&^collective)
	s.drop(noticesOf(context), contextMask|rankMask)
}

// anyUnexpected reports whether anything has come for which there is no receive. Ordinarily nothing has.
func (s *seat) anyUnexpected() bool {
	_, some, err := s.ep.Iprobe(0, 0)
	return some && err == nil
}

// drop drops the unexpected messages that match.
func (s *seat) drop(value, mask uint64) { _, _ = s.ep.Discard(value, mask) }
