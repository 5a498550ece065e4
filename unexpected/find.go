package unexpected

import "gomx/match"

// shallow is how many messages a wildcard search may walk past without counting
// towards an index for its mask.
const shallow = 32

// Find returns the oldest message that a receive or probe with value and mask
// matches and leaves it in the store; ok is false if there is none.
func (s *Store) Find(value, mask uint64) (id int32, ok bool) {
	s.finds++
	if s.depth == 0 {
		s.snapshots = nil
		return none, false
	}
	if mask != match.MaskNone {
		return s.findMasked(value, mask)
	}
	id, ok = s.exact.First(value)
	if ok {
		s.walked++
	}
	return id, ok
}

func (s *Store) findMasked(value, mask uint64) (int32, bool) {
	if !match.Valid(value, mask) {
		return none, false
	}
	if s.depth <= shallow {
		s.snapshots = nil
		id, _ := s.walk(s.first, value, mask)
		return id, id != none
	}
	s.asked++
	if index := s.indexOf(mask); index != nil {
		id, ok := index.First(value)
		if ok {
			s.walked++
		}
		return id, ok
	}
	if p := s.snapshotOf(mask); p != nil {
		id := s.findIn(p, value)
		return id, id != none
	}
	id, steps := s.walk(s.first, value, mask)
	if steps > shallow {
		s.walkedFar(mask, steps)
	}
	return id, id != none
}

// walk looks at messages in order of arrival, beginning with from, until one
// matches, and returns how many it has looked at.
func (s *Store) walk(from int32, value, mask uint64) (id int32, steps int) {
	for id = from; id != none; {
		steps++
		at := s.slab.at(id)
		if match.Matches(at.message.Match, value, mask) {
			break
		}
		id = at.next
	}
	s.walked += uint64(steps)
	return id, steps
}

// walkedFar gives mask an index, or a snapshot, once searches like this one have cost as much
// as building it: a single walk over everything, or several shorter ones.
func (s *Store) walkedFar(mask uint64, steps int) {
	s.debt += steps
	if s.debt >= s.depth {
		s.debt = 0
		s.addIndex(mask)
	}
}
