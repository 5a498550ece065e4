package mpi

import "sync"

// freedKept is the number of freed communicators whose late messages a rank drops.
const freedKept = 16

// freedContexts are the contexts of the communicators that were freed last, the oldest first from next on.
type freedContexts struct {
	mu   sync.Mutex
	list []uint32
	next int
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

// holds notes that there is a window on the communicator.
func (st *commState) holds() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.windows++
}

// ends notes that so many of the windows were freed, and reports whether the communicator and all its windows are freed
// now.
func (st *commState) ends(windows int) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.windows -= windows
	if st.windows > 0 || st.over || !st.freed.Load() {
		return false
	}
	st.over = true
	return true
}

// forget drops messages of a freed communicator that were not received, and gives its context back.
func (s *seat) forget(c *Comm) {
	s.known.remove(c)
	s.uncount(c.state)
	c.state.clear(s)
	s.freed.add(c.state.context)
	s.dropFreed()
	s.ids.giveBack(c.state.context)
}

// dropFreed drops messages of freed communicators. They would otherwise stay in the endpoint's buffer of unexpected
// messages, and a sender might wait for them.
func (s *seat) dropFreed() {
	s.freed.mu.Lock()
	defer s.freed.mu.Unlock()
	if _, some, err := s.ep.Iprobe(0, 0); !some || err != nil {
		return // nothing has come without a receive, which is the ordinary case
	}
	for _, context := range s.freed.list {
		s.drop(bitsOf(context, 0), contextMask&^collective)
		s.drop(noticesOf(context), contextMask|rankMask)
	}
}

// drop drops the unexpected messages that match.
func (s *seat) drop(value, mask uint64) {
	for {
		m, _, found, err := s.ep.Iclaim(value, mask)
		if !found || err != nil {
			return
		}
		if r, err := s.ep.IrecvMessage(nil, m, nil); err == nil {
			_, _, _ = s.ep.Abandon(r)
		}
	}
}
