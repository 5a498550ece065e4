package match

// Index is a multimap from a 64-bit value to the ids added under it, oldest
// first. Ids are small and dense: memory is 16 bytes for each id up to the
// largest ever added and at most 64 for each value. Every operation takes
// constant time, and a value with very many ids slows no other value.
//
// The zero value is ready for use. It never gives memory back; an Index that
// has reached its largest population allocates no more. It may not be used by
// two goroutines at once.
type Index struct {
	chains chains
	links  []link
	len    int
}

// Add puts id behind the others of value. The id must be zero or more and not be
// in the index.
func (x *Index) Add(value uint64, id int32) {
	if int(id) >= len(x.links) {
		x.links = reach(x.links, id)
	}
	x.chains.push(x.links, value, id)
	x.len++
}

// First returns the id that has been under value for the longest time and
// leaves it there; ok is false if value has none.
func (x *Index) First(value uint64) (id int32, ok bool) {
	i := x.chains.find(value)
	if i < 0 {
		return 0, false
	}
	return x.chains.slots[i].head - 1, true
}

// Pop returns the same id as First, and removes it.
func (x *Index) Pop(value uint64) (id int32, ok bool) {
	i := x.chains.find(value)
	if i < 0 {
		return 0, false
	}
	x.len--
	return x.chains.popAt(x.links, i), true
}

// Remove removes id, whatever its value is, and reports whether it was in the
// index.
func (x *Index) Remove(id int32) bool {
	if !x.Has(id) {
		return false
	}
	x.chains.remove(x.links, id)
	x.len--
	return true
}

// Has reports whether id is in the index.
func (x *Index) Has(id int32) bool {
	return uint(id) < uint(len(x.links)) && x.links[id].prev != 0
}

// Len returns the number of ids in the index.
func (x *Index) Len() int { return x.len }

// Bytes returns the size of the memory that the index keeps, in bytes.
func (x *Index) Bytes() int {
	const slotBytes, linkBytes = 16, 16
	return slotBytes*cap(x.chains.slots) + linkBytes*cap(x.links)
}

// Reset empties the index and keeps its memory. It takes time in proportion to
// that memory.
func (x *Index) Reset() {
	clear(x.chains.slots)
	clear(x.links)
	x.chains.used, x.len = 0, 0
}
