package unexpected

import (
	"math/bits"

	"gomx/match"
)

// mostSnapshots bounds the masks that have a snapshot. A message costs none of them anything, neither when it comes nor when it goes.
const mostSnapshots = 16

// snapshot finds messages under one mask among those that were stored when it was taken, for masks that there is no room for an index for.
// It takes 8 to 12 bytes for each message, and is not kept up: what has gone since is dropped when it is found, and what has come
// since is walked past, until that has cost as much as to take it anew.
type snapshot struct {
	mask  uint64
	until uint64  // number of the latest message that it knows
	since int32   // the oldest message that has come since
	heads []int32 // the oldest message of each hash
	next  []int32 // the one of the same hash behind each
	debt  int     // messages walked past since it was taken
	asked uint64  // Store.asked when this was last asked
	idle  int     // messages added since
}

// snapshotOf returns the snapshot of mask, or nil if it has none.
func (s *Store) snapshotOf(mask uint64) *snapshot {
	for i := range s.snapshots {
		if p := &s.snapshots[i]; p.mask == mask {
			p.asked, p.idle = s.asked, 0
			return p
		}
	}
	return nil
}

// addSnapshot gives mask a snapshot, at the expense of the one not asked for longest if need be, or leaves things alone if all
// are in use.
func (s *Store) addSnapshot(mask uint64) {
	if len(s.snapshots) < mostSnapshots {
		s.snapshots = append(s.snapshots, snapshot{mask: mask, asked: s.asked})
		s.take(&s.snapshots[len(s.snapshots)-1])
		return
	}
	stale := &s.snapshots[0]
	for i := range s.snapshots {
		if p := &s.snapshots[i]; p.asked < stale.asked {
			stale = p
		}
	}
	if s.asked-stale.asked > settled {
		stale.mask, stale.asked, stale.idle = mask, s.asked, 0
		s.take(stale)
	}
}

// take has p know all messages there are now, from the newest on, so that each stands before those that came later.
func (s *Store) take(p *snapshot) {
	if size := 1 << bits.Len(uint(s.depth-1)); len(p.heads) != size {
		p.heads = make([]int32, size)
	} else {
		clear(p.heads)
	}
	if size := int(s.slab.used) + 1; len(p.next) < size {
		p.next = make([]int32, size)
	}
	p.until, p.since, p.debt = s.added, none, 0
	for id := s.last; id != none; {
		at := s.slab.at(id)
		head := p.head(at.message.Match & p.mask)
		p.next[id], *head = *head, id
		id = at.prev
	}
}

// head returns where the messages of value's hash begin.
func (p *snapshot) head(value uint64) *int32 {
	return &p.heads[match.Hash(value)&uint64(len(p.heads)-1)]
}

// findIn is Find with the snapshot of the mask.
func (s *Store) findIn(p *snapshot, value uint64) int32 {
	steps := 0
	for before := p.head(value); *before != none; {
		steps++
		id := *before
		at := s.slab.at(id)
		switch {
		case at.number == 0 || at.number > p.until: // it has gone, and its place may be another's
			*before = p.next[id]
		case at.message.Match&p.mask == value:
			s.walked += uint64(steps)
			return id
		default:
			before = &p.next[id]
		}
	}
	s.walked += uint64(steps)
	id, newer := s.walk(p.since, value, p.mask)
	if p.debt += newer; newer > shallow && p.debt >= s.depth {
		s.take(p)
	}
	return id
}

// snapshotsMiss tells the snapshots of a message that has come after they were taken, and drops those that nobody has asked
// for in a long time.
func (s *Store) snapshotsMiss(id int32) {
	for i := len(s.snapshots) - 1; i >= 0; i-- {
		p := &s.snapshots[i]
		if p.idle++; p.idle > patience+s.depth {
			last := len(s.snapshots) - 1
			s.snapshots[i] = s.snapshots[last]
			s.snapshots[last] = snapshot{}
			s.snapshots = s.snapshots[:last]
			continue
		}
		if p.since == none {
			p.since = id
		}
	}
}

// snapshotsLose tells the snapshots that a message goes, and which one came after it.
func (s *Store) snapshotsLose(id, next int32) {
	for i := range s.snapshots {
		if p := &s.snapshots[i]; p.since == id {
			p.since = next
		}
	}
}
