package arena

import (
	"cmp"
	"slices"
)

// hole is a run of free pages.
type hole struct{ start, end int64 }

// holes lists all free runs by offset; no two touch. The lowest fit keeps blocks
// together at the beginning, so that the rest of the arena stays untouched.
type holes []hole

// take cuts size bytes at a multiple of align out of the first hole that has
// them. Both are multiples of the page size.
func (h *holes) take(size, align int64) (off int64, ok bool) {
	for i, free := range *h {
		off = roundUp(free.start, align)
		if free.end-off >= size {
			h.cut(i, off, off+size)
			return off, true
		}
	}
	return 0, false
}

func (h *holes) cut(i int, start, end int64) {
	free := (*h)[i]
	before, after := hole{free.start, start}, hole{end, free.end}
	switch {
	case before.empty() && after.empty():
		*h = slices.Delete(*h, i, i+1)
	case before.empty():
		(*h)[i] = after
	case after.empty():
		(*h)[i] = before
	default:
		(*h)[i] = before
		*h = slices.Insert(*h, i+1, after)
	}
}

func (free hole) empty() bool { return free.start >= free.end }

// insert gives back a run, joining it with the holes beside it.
func (h *holes) insert(off, size int64) {
	end := off + size
	i, _ := slices.BinarySearchFunc(*h, off, func(free hole, off int64) int { return cmp.Compare(free.start, off) })
	joinsBefore := i > 0 && (*h)[i-1].end == off
	joinsAfter := i < len(*h) && (*h)[i].start == end
	switch {
	case joinsBefore && joinsAfter:
		(*h)[i-1].end = (*h)[i].end
		*h = slices.Delete(*h, i, i+1)
	case joinsBefore:
		(*h)[i-1].end = end
	case joinsAfter:
		(*h)[i].start = off
	default:
		*h = slices.Insert(*h, i, hole{off, end})
	}
}

func (h holes) largest() int64 {
	var size int64
	for _, free := range h {
		size = max(size, free.end-free.start)
	}
	return size
}

// run is pages that one block has.
type run struct{ start, size int64 }

// runs lists them by offset.
type runs []run

// find returns where a run that begins at off is in the list, or would be.
func (l runs) find(off int64) (i int, there bool) {
	return slices.BinarySearchFunc(l, off, func(r run, off int64) int { return cmp.Compare(r.start, off) })
}

func (l *runs) add(off, size int64) {
	i, _ := l.find(off)
	*l = slices.Insert(*l, i, run{off, size})
}

// remove takes out the run that begins at off, if there is one.
func (l *runs) remove(off int64) bool {
	i, there := l.find(off)
	if there {
		*l = slices.Delete(*l, i, i+1)
	}
	return there
}

// around returns the run in which off lies.
func (l runs) around(off int64) (start, size int64, ok bool) {
	i, there := l.find(off)
	if !there {
		i-- // the one before may reach over off
	}
	if i < 0 || off-l[i].start >= l[i].size {
		return 0, 0, false
	}
	return l[i].start, l[i].size, true
}
