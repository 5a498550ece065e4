package ring

// space is the writer's view of the payload area: a circular buffer of which
// only the first usable bytes are in use, in pieces that never wrap. Pieces are
// freed in order, by the index of the slot that the frame begins with.
type space struct {
	usable     int
	head, tail int // [tail, head) is in use, or [tail, usable) and [0, head)
	wrapped    bool
	pieces     [Slots / 2]piece // a queue; a frame has one piece at most
	first, end uint64
}

type piece struct {
	frame uint64 // index of its first slot
	end   int    // where the piece ends
}

const (
	firstSpace = 2 * MaxFrame
	pieceAlign = Line
)

// take reserves n bytes for the frame of that index.
func (s *space) take(n int, frame uint64) (int, bool) {
	n = (n + pieceAlign - 1) &^ (pieceAlign - 1)
	at := s.head
	switch {
	case s.wrapped:
		if s.tail-s.head < n {
			return 0, false
		}
	case s.usable-s.head < n:
		if s.tail < n {
			return 0, false
		}
		at, s.wrapped = 0, true
	}
	s.head = at + n
	s.pieces[s.end%uint64(len(s.pieces))] = piece{frame: frame, end: s.head}
	s.end++
	return at, true
}

// release frees the pieces of all frames before index done. If nothing is left
// in use, the space starts over at its front, whose lines are likely cached.
func (s *space) release(done uint64) {
	for s.first != s.end {
		p := &s.pieces[s.first%uint64(len(s.pieces))]
		if p.frame >= done {
			return
		}
		if p.end <= s.tail {
			s.wrapped = false
		}
		s.tail = p.end
		s.first++
	}
	s.head, s.tail, s.wrapped = 0, 0, false
}

// grow takes more of the area into use. It can do so only while the part in use
// does not wrap around the end.
func (s *space) grow() {
	if !s.wrapped && s.usable < DataSize && s.head > 0 {
		s.usable *= 2
	}
}
