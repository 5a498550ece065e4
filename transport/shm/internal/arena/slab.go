package arena

import "math/bits"

// classSizes are the sizes of small blocks. The steps in between powers of two
// keep the loss by rounding below a third, above 64 bytes.
var classSizes = [...]int64{64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048}

const (
	largestClass = 2048
	mostSlots    = slabSize / 64
	wordBits     = 64
)

func classOf(n int64) int {
	class := 0
	for classSizes[class] < n {
		class++
	}
	return class
}

// slab is 64 KiB, at a multiple of 64 KiB, cut into slots of one class.
type slab struct {
	base       int64
	class      int
	used       int
	slots      int
	taken      [mostSlots / wordBits]uint64
	prev, next *slab // among the slabs of this class that have a free slot
}

// around returns the block in use around off, which is an offset of the slab.
func (s *slab) around(off int64) (start, size int64, ok bool) {
	size = classSizes[s.class]
	slot := (off - s.base) / size
	ok = slot < int64(s.slots) && s.taken[slot/wordBits]>>(slot%wordBits)&1 != 0
	return s.base + slot*size, size, ok
}

// slabs finds slabs by offset and, for each class, those with a free slot.
type slabs struct {
	byNumber map[int64]*slab // by base / slabSize
	partial  [len(classSizes)]*slab
}

// at returns the slab around an offset, nil if there is none.
func (l *slabs) at(off int64) *slab {
	if off < 0 {
		return nil
	}
	return l.byNumber[off/slabSize]
}

func (l *slabs) add(base int64, class int) *slab {
	s := &slab{base: base, class: class, slots: int(slabSize / classSizes[class])}
	l.byNumber[base/slabSize] = s
	l.link(s)
	return s
}

func (l *slabs) remove(s *slab) {
	l.unlink(s)
	delete(l.byNumber, s.base/slabSize)
}

// takeSlot takes the lowest free slot of a slab that has one.
func (l *slabs) takeSlot(s *slab) (off int64) {
	word := 0
	for s.taken[word] == ^uint64(0) {
		word++
	}
	bit := bits.TrailingZeros64(^s.taken[word])
	s.taken[word] |= 1 << bit
	s.used++
	if s.used == s.slots {
		l.unlink(s)
	}
	return s.base + int64(word*wordBits+bit)*classSizes[s.class]
}

func (l *slabs) freeSlot(s *slab, off int64) {
	slot := (off - s.base) / classSizes[s.class]
	s.taken[slot/wordBits] &^= 1 << (slot % wordBits)
	if s.used == s.slots {
		l.link(s)
	}
	s.used--
}

func (l *slabs) link(s *slab) {
	first := l.partial[s.class]
	s.next = first
	if first != nil {
		first.prev = s
	}
	l.partial[s.class] = s
}

func (l *slabs) unlink(s *slab) {
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		l.partial[s.class] = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	}
	s.prev, s.next = nil, nil
}
