//go:build linux && cgo

package gather

import "gomx/transport/rdma/internal/verbs"

// Cutter cuts one transfer into reads, one after the other, so that the caller can
// stop when the QP is full and go on later.
type Cutter struct {
	far       []Segment
	near      []verbs.Piece
	farDone   uint32 // of far[0]
	nearDone  uint32 // of near[0]
	left      int    // bytes that are not cut yet
	most      uint32 // bytes in one read
	maxPieces int
}

// Read is one request.
type Read struct {
	From uint64
	Key  uint32
	Into []verbs.Piece
}

// Len returns how many bytes it fetches.
func (r *Read) Len() (n int) {
	for _, p := range r.Into {
		n += int(p.Length)
	}
	return n
}

// Start begins to cut the first n bytes of far, to be read into the first n of near.
// Both hold as many or more, and stay as they are until the end. A read has
// maxPieces pieces at most and, if most is not 0, so many bytes.
func (c *Cutter) Start(far []Segment, near []verbs.Piece, n, maxPieces int, most uint32) {
	*c = Cutter{far: far, near: near, left: n, most: most, maxPieces: maxPieces}
}

// Done reports whether all is cut.
func (c *Cutter) Done() bool { return c.left == 0 }

// Next returns the next read, with its pieces appended to pieces. Not after Done.
func (c *Cutter) Next(pieces []verbs.Piece) Read {
	for c.farDone == c.far[0].Length {
		c.far, c.farDone = c.far[1:], 0
	}
	from := c.far[0]
	room := from.Length - c.farDone
	if c.most != 0 {
		room = min(room, c.most)
	}
	room = uint32(min(uint64(room), uint64(c.left)))
	r := Read{From: from.Addr + uint64(c.farDone), Key: from.Key}
	for count := 0; room > 0 && count < c.maxPieces; {
		to := c.near[0]
		if n := min(room, to.Length-c.nearDone); n > 0 {
			pieces = append(pieces, to.Part(c.nearDone, n))
			count++
			c.nearDone += n
			c.farDone += n
			c.left -= int(n)
			room -= n
		}
		if c.nearDone == to.Length {
			c.near, c.nearDone = c.near[1:], 0
		}
	}
	r.Into = pieces
	return r
}
