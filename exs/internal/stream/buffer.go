package stream

// fetch is a piece of the buffer whose bytes are on their way, or that waits
// behind such a piece.
type fetch struct {
	ticket uint32
	n      int
	here   bool
}

// buffer keeps the account of the intermediate buffer: a ring of size bytes with
// held of them taken from head on. The first of these can be read.
type buffer struct {
	size, head int
	held, here int
	peak       int
	fetches    queue[fetch]
	tickets    uint32
}

// fetching reports whether bytes are on their way, so that the ring can't move.
func (b *buffer) fetching() bool { return b.fetches.len() > 0 }

// reserve takes n bytes behind the others, which are two pieces if the ring ends in
// between.
func (b *buffer) reserve(n int) (at, first, rest int) {
	at = b.head + b.held
	if at >= b.size {
		at -= b.size
	}
	first = min(n, b.size-at)
	b.held += n
	b.peak = max(b.peak, b.held)
	return at, first, n - first
}

// wait notes that the n bytes reserved last will come under the ticket returned.
func (b *buffer) wait(n int) uint32 {
	b.tickets++
	*b.fetches.push() = fetch{ticket: b.tickets, n: n}
	return b.tickets
}

// arrived notes that the n bytes reserved last are here.
func (b *buffer) arrived(n int) {
	if !b.fetching() {
		b.here += n
	} else if last := b.fetches.back(); last.here {
		last.n += n
	} else {
		*b.fetches.push() = fetch{n: n, here: true}
	}
}

// fetched notes that the bytes of a ticket are here.
func (b *buffer) fetched(ticket uint32) bool {
	found := false
	for i := range b.fetches.len() {
		if f := b.fetches.at(i); f.ticket == ticket && !f.here {
			f.here, found = true, true
			break
		}
	}
	for b.fetching() && b.fetches.front().here {
		b.here += b.fetches.front().n
		b.fetches.pop()
	}
	return found
}

// cut gives back the n bytes of a ticket, and all behind them.
func (b *buffer) cut(ticket uint32) bool {
	for i := range b.fetches.len() {
		if f := b.fetches.at(i); f.ticket != ticket || f.here {
			continue
		}
		for b.fetches.len() > i {
			b.held -= b.fetches.back().n
			b.fetches.popBack()
		}
		return true
	}
	return false
}

// consume gives the first n bytes back.
func (b *buffer) consume(n int) {
	b.head += n
	if b.head >= b.size {
		b.head -= b.size
	}
	b.held -= n
	b.here -= n
	if b.held == 0 {
		b.head = 0
	}
}

// resize makes a ring of another size, with the same bytes.
func (b *buffer) resize(size int, s *script) {
	a := s.add(ToResize)
	a.N, a.At, a.Len = size, b.head, b.held
	b.size, b.head = size, 0
}
