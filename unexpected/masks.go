package unexpected

import "gomx/match"

const (
	// maxIndexes bounds the number of masks with an index. Each index costs time
	// for every message that is added or removed. Programs use one to four masks.
	maxIndexes = 8

	// indexCost is what an index may need for each message, in bytes.
	indexCost = 80

	// alwaysAffordable is the depth up to which indexes are never too large, and
	// alwaysIndexes is how many indexes are permitted at any depth, because a
	// search without an index may walk past all messages.
	alwaysAffordable = 4096
	alwaysIndexes    = 2

	// patience is for how many messages an index that no search uses is kept up to
	// date, in addition to the number of messages that building it anew would read.
	patience = 4096

	// settled is how many searches with other masks there must have been before an
	// index makes way for that of another mask. Without this bound, nine masks used
	// in turn would cause an index to be built for every search.
	settled = 4 * maxIndexes

	// keptIndex is the largest memory, in bytes, that a dropped index keeps for
	// the next one.
	keptIndex = 64 << 10
)

// maskIndex finds messages by their match information under one mask.
type maskIndex struct {
	mask  uint64
	index match.Index
	asked uint64 // Store.asked when a search last used the index
	idle  int    // messages added since then
}

// indexOf returns the index of mask, or nil if it has none.
func (s *Store) indexOf(mask uint64) *match.Index {
	for i := range s.masked {
		m := &s.masked[i]
		if m.mask == mask {
			m.asked, m.idle = s.asked, 0
			return &m.index
		}
	}
	return nil
}

// addIndex gives mask an index over all stored messages. If there is no room for
// one more, it replaces the index that has not been used for the longest time, and
// if all indexes are in use, mask gets a snapshot instead.
func (s *Store) addIndex(mask uint64) {
	if len(s.masked) == maxIndexes || !s.affords(len(s.masked)+1) {
		stale := s.stalest() // there is one: a few are affordable in any case
		if s.asked-s.masked[stale].asked <= settled {
			s.addSnapshot(mask)
			return
		}
		s.dropIndex(stale)
	}
	if s.masked == nil {
		s.masked = make([]maskIndex, 0, maxIndexes)
	}
	s.masked = s.masked[:len(s.masked)+1]
	m := &s.masked[len(s.masked)-1]
	m.mask, m.asked, m.idle = mask, s.asked, 0
	for id := s.first; id != none; {
		at := s.slab.at(id)
		m.index.Add(at.message.Match&mask, id)
		id = at.next
	}
}

// keepUp adds a new message to every index, and drops indexes that no search has
// used for a long time.
func (s *Store) keepUp(incoming uint64, id int32) {
	for i := len(s.masked) - 1; i >= 0; i-- {
		m := &s.masked[i]
		m.idle++
		if m.idle > patience+s.depth {
			s.dropIndex(i)
			continue
		}
		m.index.Add(incoming&m.mask, id)
	}
	s.dropUnaffordable()
}

// affords reports whether n indexes over the stored messages stay within the
// limit, or are so few, or so small, that they are always permitted.
func (s *Store) affords(n int) bool {
	return n <= alwaysIndexes || s.depth <= alwaysAffordable || n*s.depth*indexCost <= s.limit
}

func (s *Store) dropUnaffordable() {
	for len(s.masked) > 0 && !s.affords(len(s.masked)) {
		s.dropIndex(s.stalest())
	}
}

// stalest returns the position of the index that has not been used for the longest time.
func (s *Store) stalest() int {
	stale := 0
	for i := range s.masked {
		if s.masked[i].asked < s.masked[stale].asked {
			stale = i
		}
	}
	return stale
}

// dropIndex removes the index at position i. Its memory is kept for the next mask,
// behind the end of s.masked, unless it is large.
func (s *Store) dropIndex(i int) {
	last := len(s.masked) - 1
	s.masked[i], s.masked[last] = s.masked[last], s.masked[i]
	gone := &s.masked[last].index
	if gone.Bytes() > keptIndex {
		*gone = match.Index{}
	} else {
		gone.Reset()
	}
	s.masked = s.masked[:last]
}
