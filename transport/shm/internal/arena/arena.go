package arena

import (
	"fmt"
	"sync"
)

const (
	pageSize = 4096
	slabSize = 64 << 10
)

// Allocator hands out offsets of one arena. Make it with New.
type Allocator struct {
	capacity int64

	mu    sync.Mutex // covers all below
	holes holes
	runs  runs // of pages in use
	slabs slabs
	inUse int64
	peak  int64
}

// New returns an allocator of an arena of so many bytes, all free. What remains
// beyond the last whole page of 4 KiB is left alone.
func New(size int64) *Allocator {
	capacity := max(size, 0) / pageSize * pageSize
	a := &Allocator{
		capacity: capacity,
		slabs:    slabs{byNumber: map[int64]*slab{}},
	}
	if capacity > 0 {
		a.holes.insert(0, capacity)
	}
	return a
}

// Capacity returns the bytes that the arena can hand out at most.
func (a *Allocator) Capacity() int64 { return a.capacity }

// Alloc returns the offset of a free block of at least n bytes: a multiple of
// 64, and of 4096 for blocks of 4096 bytes and more. Errors are ErrBadSize for n
// below 1, and a *FullError, which is ErrFull.
func (a *Allocator) Alloc(n int64) (off int64, err error) {
	if n <= 0 {
		return 0, fmt.Errorf("%w: %d bytes", ErrBadSize, n)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	off, size, ok := a.take(n)
	if !ok {
		return 0, &FullError{Asked: n, Free: a.capacity - a.inUse, Largest: a.holes.largest()}
	}
	a.inUse += size
	a.peak = max(a.peak, a.inUse)
	return off, nil
}

func (a *Allocator) take(n int64) (off, size int64, ok bool) {
	if n > a.capacity {
		return 0, 0, false
	}
	if n <= largestClass {
		if off, size, ok := a.takeSmall(n); ok {
			return off, size, true
		}
	}
	size = roundUp(n, pageSize)
	if off, ok = a.holes.take(size, pageSize); ok {
		a.runs.add(off, size)
	}
	return off, size, ok
}

func (a *Allocator) takeSmall(n int64) (off, size int64, ok bool) {
	class := classOf(n)
	s := a.slabs.partial[class]
	if s == nil {
		base, ok := a.holes.take(slabSize, slabSize)
		if !ok {
			return 0, 0, false
		}
		s = a.slabs.add(base, class)
	}
	return a.slabs.takeSlot(s), classSizes[class], true
}

// Free takes a block back and returns the bytes it occupied, which is what was
// asked for, rounded up. The offset must be one that Alloc returned and that
// wasn't freed since; otherwise the error is ErrNotAllocated and nothing changes.
func (a *Allocator) Free(off int64) (size int64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	size, ok := a.sizeLocked(off)
	if !ok {
		return 0, notAllocated(off)
	}
	a.inUse -= size
	if a.runs.remove(off) {
		a.holes.insert(off, size)
		return size, nil
	}
	s := a.slabs.at(off)
	a.slabs.freeSlot(s, off)
	if s.used == 0 {
		base := s.base
		a.slabs.remove(s)
		a.holes.insert(base, slabSize)
	}
	return size, nil
}

// Size returns the bytes that the block at off occupies, and false if no block
// starts there.
func (a *Allocator) Size(off int64) (int64, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sizeLocked(off)
}

func (a *Allocator) sizeLocked(off int64) (int64, bool) {
	start, size, ok := a.aroundLocked(off)
	return size, ok && start == off
}

// Around returns where the block begins in which off lies, and the bytes that it
// occupies, and false if off lies in none.
func (a *Allocator) Around(off int64) (start, size int64, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.aroundLocked(off)
}

func (a *Allocator) aroundLocked(off int64) (start, size int64, ok bool) {
	if s := a.slabs.at(off); s != nil {
		return s.around(off)
	}
	return a.runs.around(off)
}

// InUse returns the bytes that blocks occupy now, rounding included.
func (a *Allocator) InUse() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.inUse
}

// Peak returns the largest value InUse ever had.
func (a *Allocator) Peak() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.peak
}

// roundUp rounds to a multiple of a power of two.
func roundUp(n, unit int64) int64 {
	return (n + unit - 1) &^ (unit - 1)
}
