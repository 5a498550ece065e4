package endpoint

// list is a queue of requests, linked through their next and prev.
type list struct{ head, tail int32 }

func (l *list) reset() { l.head, l.tail = none, none }

func (s *slab) push(l *list, slot int32, r *request) {
	r.next, r.prev = none, l.tail
	if l.tail == none {
		l.head = slot
	} else {
		s.at(l.tail).next = slot
	}
	l.tail = slot
}

// insert puts a request behind another one of the list, or with none at its beginning.
func (s *slab) insert(l *list, after, slot int32, r *request) {
	if after == l.tail {
		s.push(l, slot, r)
		return
	}
	if r.prev = after; after == none {
		r.next, l.head = l.head, slot
	} else {
		r.next = s.at(after).next
		s.at(after).next = slot
	}
	s.at(r.next).prev = slot
}

func (s *slab) remove(l *list, r *request) {
	if r.prev == r.next { // both none: it was alone
		l.head, l.tail = none, none
		return
	}
	if r.prev == none {
		l.head = r.next
	} else {
		s.at(r.prev).next = r.next
	}
	if r.next == none {
		l.tail = r.prev
	} else {
		s.at(r.next).prev = r.prev
	}
}

// fifo is a queue of values that reuses its memory.
type fifo[T any] struct {
	items []T
	first int
}

func (f *fifo[T]) len() int { return len(f.items) - f.first }

func (f *fifo[T]) push(v T) { f.items = append(f.items, v) }

func (f *fifo[T]) front() *T { return &f.items[f.first] }

func (f *fifo[T]) pop() {
	if f.first++; f.first == len(f.items) {
		f.items, f.first = f.items[:0], 0
	} else if f.first >= 64 && f.first*2 >= len(f.items) {
		n := copy(f.items, f.items[f.first:])
		f.items, f.first = f.items[:n], 0
	}
}

func (f *fifo[T]) has(is func(*T) bool) bool {
	for i := f.first; i < len(f.items); i++ {
		if is(&f.items[i]) {
			return true
		}
	}
	return false
}

// keep drops what want does not want.
func (f *fifo[T]) keep(want func(*T) bool) {
	n := 0
	for i := f.first; i < len(f.items); i++ {
		if want(&f.items[i]) {
			f.items[n] = f.items[i]
			n++
		}
	}
	f.items, f.first = f.items[:n], 0
}

func (f *fifo[T]) clear() { f.items, f.first = f.items[:0], 0 }
