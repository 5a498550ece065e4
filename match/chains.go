package match

import "math/bits"

// A ref names an id inside links and slots: the id plus one, so that zeroed
// memory means "none".
type ref = int32

// link connects an id with its neighbours in a queue. The slab of links belongs to
// the caller, so that several chains can share it.
type link struct {
	value uint64
	next  ref // 0 at the back
	prev  ref // itself at the front; 0 while the id is in no queue
}

// slot holds the queue of one value. An empty slot has head 0.
type slot struct {
	value      uint64
	head, tail ref
}

// chains maps a value to the queue of ids added under it: open addressing with
// linear probing over distinct values, at most half full. Deleting shifts later
// slots back instead of leaving tombstones, so look-ups stay short for ever.
// The zero value is ready.
type chains struct {
	slots []slot
	used  int
}

const minSlots = 8

// Hash multiplies value by a constant and folds the 128-bit product, so that a difference in any bit of value
// reaches the low bits of the result: match information is often packed as
// fields that leave most bits alone.
func Hash(value uint64) uint64 {
	hi, lo := bits.Mul64(value^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return hi ^ lo
}

// find returns the position of value's slot, or -1.
func (c *chains) find(value uint64) int {
	if c.used == 0 {
		return -1
	}
	last := uint64(len(c.slots) - 1)
	for i := Hash(value) & last; ; i = (i + 1) & last {
		s := &c.slots[i]
		if s.head == 0 {
			return -1
		}
		if s.value == value {
			return int(i)
		}
	}
}

// push puts id at the back of value's queue. links[id] must exist and stand in
// no queue.
func (c *chains) push(links []link, value uint64, id int32) {
	if 2*c.used >= len(c.slots) {
		c.grow()
	}
	r := id + 1
	s := c.seat(value)
	if s.head == 0 {
		*s = slot{value: value, head: r, tail: r}
		links[id] = link{value: value, prev: r}
		c.used++
		return
	}
	links[s.tail-1].next = r
	links[id] = link{value: value, prev: s.tail}
	s.tail = r
}

// seat returns the slot of value, or the empty one where it would go.
func (c *chains) seat(value uint64) *slot {
	last := uint64(len(c.slots) - 1)
	for i := Hash(value) & last; ; i = (i + 1) & last {
		s := &c.slots[i]
		if s.head == 0 || s.value == value {
			return s
		}
	}
}

// popAt takes the front of the queue whose slot is at position i.
func (c *chains) popAt(links []link, i int) int32 {
	s := &c.slots[i]
	id := s.head - 1
	l := &links[id]
	next := l.next
	l.prev = 0
	if next == 0 {
		c.vacate(i)
		return id
	}
	s.head = next
	links[next-1].prev = next
	return id
}

// remove takes id, which must stand in a queue of c, from wherever it stands.
func (c *chains) remove(links []link, id int32) {
	r := id + 1
	l := links[id]
	links[id].prev = 0
	atFront, atBack := l.prev == r, l.next == 0
	switch {
	case atFront && atBack:
		c.vacate(c.find(l.value))
	case atFront:
		c.slots[c.find(l.value)].head = l.next
		links[l.next-1].prev = l.next
	case atBack:
		c.slots[c.find(l.value)].tail = l.prev
		links[l.prev-1].next = 0
	default:
		links[l.prev-1].next = l.next
		links[l.next-1].prev = l.prev
	}
}

// vacate empties the slot at position hole and moves back those behind it that
// had been pushed past it, so that every probe sequence stays unbroken.
func (c *chains) vacate(hole int) {
	last := len(c.slots) - 1
	for i := (hole + 1) & last; c.slots[i].head != 0; i = (i + 1) & last {
		home := int(Hash(c.slots[i].value)) & last
		if (i-home)&last >= (i-hole)&last {
			c.slots[hole] = c.slots[i]
			hole = i
		}
	}
	c.slots[hole] = slot{}
	c.used--
}

// grow doubles the number of slots. Each queue moves as a whole, and its links remain as they are.
func (c *chains) grow() {
	old := c.slots
	c.slots = make([]slot, max(minSlots, 2*len(old)))
	for _, s := range old {
		if s.head != 0 {
			*c.seat(s.value) = s
		}
	}
}

// reach returns s long enough to be indexed by id, doubling when it must grow.
func reach[T any](s []T, id int32) []T {
	if int(id) < len(s) {
		return s
	}
	size := max(2*minSlots, 1<<bits.Len32(uint32(id)))
	return append(s, make([]T, size-len(s))...)
}
