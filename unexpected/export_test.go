package unexpected

import "fmt"

// Check reports a broken invariant of s.
func Check(s *Store) error {
	n, claimed, bytes, prev := 0, 0, 0, none
	for id := s.first; id != none; id = s.slab.at(id).next {
		at := s.slab.at(id)
		if at.prev != prev || !s.exact.Has(id) {
			return fmt.Errorf("message %d follows %d, not %d; indexed %v", id, at.prev, prev, s.exact.Has(id))
		}
		for i := range s.masked {
			if !s.masked[i].index.Has(id) {
				return fmt.Errorf("message %d is missing under mask %#x", id, s.masked[i].mask)
			}
		}
		n, bytes, prev = n+1, bytes+at.cost, id
	}
	for id, prev := s.claims, none; id != none; id = s.slab.at(id).next {
		at := s.slab.at(id)
		if at.prev != prev || !at.claimed || s.exact.Has(id) {
			return fmt.Errorf("claimed message %d follows %d, not %d; indexed %v", id, at.prev, prev, s.exact.Has(id))
		}
		claimed, bytes, prev = claimed+1, bytes+at.cost, id
	}
	if claimed != s.claimed {
		return fmt.Errorf("%d messages are claimed, counted %d", claimed, s.claimed)
	}
	if n != s.depth || bytes != s.bytes || prev != s.last || s.exact.Len() != n {
		return fmt.Errorf("%d messages of %d bytes, last %d; counted %d, %d, %d, indexed %d",
			n, bytes, prev, s.depth, s.bytes, s.last, s.exact.Len())
	}
	for i := range s.masked {
		if s.masked[i].index.Len() != n {
			return fmt.Errorf("%d messages under mask %#x, want %d", s.masked[i].index.Len(), s.masked[i].mask, n)
		}
	}
	return s.slab.check(n+claimed, s.limit)
}

func (b *slab) check(live, limit int) error {
	free, spare := 0, 0
	for class, id := range b.free {
		for ; id != none; id = b.at(id).next {
			at := b.at(id)
			if int(at.class) != class || cap(at.message.Data) != sizeOf(class) {
				return fmt.Errorf("free entry %d of class %d has class %d and a buffer of %d", id, class, at.class, cap(at.message.Data))
			}
			free++
			spare += cap(at.message.Data)
		}
	}
	if live+free != int(b.used) || spare != b.spare || spare > max(0, limit/4) {
		return fmt.Errorf("%d live and %d free of %d entries; %d bytes spare, counted %d, limit %d", live, free, b.used, spare, b.spare, limit)
	}
	return nil
}
