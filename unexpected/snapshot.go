package unexpected

import (
	"math/bits"

	"gomx/match"
)

// mostSnapshots bounds the number of masks that have a snapshot. Adding or removing a message does not search a snapshot.
const mostSnapshots = 16

// snapshot is a hash of the messages that were stored when it was taken, by their match information under one mask. It serves masks
// for which there is no room for an index, and takes 8 to 12 bytes for each message. It is not kept up to date: a message that was
// removed since is dropped when a search finds it, and searches walk past messages that were added since. When those walks have
// cost as much as taking the snapshot, it is taken anew.
type snapshot struct {
	mask  uint64
	until uint64  // number of the latest message that it knows
	since int32   // the oldest message that was added since
	heads []int32 // the oldest message of each hash
	next  []int32 // for each message, the next one of the same hash
	debt  int     // messages walked past since it was taken
	asked uint64  // Store.asked when a search last used the snapshot
	idle  int     // messages added since then
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

// addSnapshot gives mask a snapshot. If there is no room for one more, it replaces the snapshot that has not been used for the longest
// time, and if all are in use, mask gets none.
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

// take fills p with all messages that are stored. It begins with the newest, so that in each hash older messages stand before newer ones.
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

// head returns where the list of messages with the hash of value begins.
func (p *snapshot) head(value uint64) *int32 {
	return &p.heads[match.Hash(value)&uint64(len(p.heads)-1)]
}

// findIn searches the snapshot p, and then the messages that were added since it was taken.
func (s *Store) findIn(p *snapshot, value uint64) int32 {
	steps := 0
	for before := p.head(value); *before != none; {
		steps++
		id := *before
		at := s.slab.at(id)
		switch {
		case at.number == 0 || at.number > p.until: // it was removed, and a newer message may have its id
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

// snapshotsMiss notes in the snapshots that a message was added after they were taken, and drops snapshots that no search has used
// for a long time.
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

// snapshotsLose notes in the snapshots that a message is removed, and that next arrived after it.
func (s *Store) snapshotsLose(id, next int32) {
	for i := range s.snapshots {
		if p := &s.snapshots[i]; p.since == id {
			p.since = next
		}
	}
}
