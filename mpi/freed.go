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
	made uint64 // collectives of this rank that make communicators
	left []freedLeft
}

// freedLeft is what is left of a collective of a freed communicator.
type freedLeft struct {
	*leavings
	context uint32
	parent  uint32 // context of the communicator that it was made of
	made    uint64 // when it was kept
}

// keep keeps the remains of a collective until its messages have come, or can't come any more.
func (f *freedContexts) keep(of *Comm, l *leavings) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left = append(f.left, freedLeft{l, of.state.context, of.state.parent, f.made})
}

// making counts a collective that makes a communicator.
func (f *freedContexts) making() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.made++
	return f.made
}

// take returns remains that are, and forgets them.
func (f *freedContexts) take(are func(l *freedLeft) bool) (taken []*leavings) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left = slices.DeleteFunc(f.left, func(l freedLeft) bool {
		if !are(&l) {
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

// endFreed ends what is left of freed communicators when one has got a context: that of those whose context it is; and that of those that
// were made of the same one, since all their ranks have taken part, which have waited for their collectives before.
func (n *net) endFreed(context uint32, made uint64) {
	s := n.c.seat
	for _, l := range s.freed.take(func(l *freedLeft) bool {
		return l.context == context || l.made < made && l.parent == n.c.state.context
	}) {
		l.end(s)
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

// inside returns the communicator for a window on it, which works until the last window is freed.
func (c *Comm) inside() *Comm {
	with := *c
	with.inner = true
	return &with
}

// holds notes a window on the communicator, or a nonblocking collective, which Free does not end.
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
