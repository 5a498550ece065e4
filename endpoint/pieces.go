package endpoint

import "gomx/transport/wire"

// An eager message, a put or the answer to a get that is kept may be larger than the
// frames of the link that it is to be retransmitted over, if that is of another medium.
// It goes in pieces then: frames of its kind which say, in their range, what place
// of the whole they bring. They follow each other, and all have the sequence number
// of the whole, since it is taken with the last of them. What has come of it is
// forgotten when the link breaks.

// mostPieces bounds the bytes of a message in pieces. No more than that is kept.
const mostPieces = healBytes

// isPiece reports whether a frame is a piece of one. Those of a put have a range
// anyway.
func isPiece(h *wire.Header, payload []byte) bool {
	switch {
	case h.Flags&wire.HasRange == 0:
		return false
	case h.Kind == wire.Put:
		return len(payload) < int(h.Total)
	}
	return h.Kind == wire.Eager || h.Kind == wire.GetData
}

// sendPieces sends what is left of the message in out, and reports whether all of it
// went.
func (e *Engine) sendPieces(p *peer, kept *wire.Header) bool {
	for off := &p.heal.sent; ; {
		h := &e.header
		*h = *kept
		h.Flags |= wire.HasRange
		h.Total, h.Offset = kept.Length, uint32(*off)
		h.Length = min(kept.Length-h.Offset, uint32(p.caps.MaxFrame))
		if h.Kind == wire.Put {
			h.Offset += kept.Offset // offset in the window
		}
		if !p.link.Send(h, &e.out, *off) {
			return false
		}
		if *off += int(h.Length); *off == int(kept.Length) {
			*off = 0
			return true
		}
	}
}

// arrivePiece takes a piece of the message whose turn it is.
func (e *Engine) arrivePiece(p *peer, h *wire.Header, payload []byte) {
	heal := p.heal
	if heal == nil || len(payload) == 0 || h.Total > mostPieces || !fits(h, len(heal.pieces)) ||
		len(heal.pieces)+len(payload) > int(h.Total) {
		e.corrupt(p)
		return
	}
	if heal.pieces == nil {
		e.reservePieces(p, int(h.Total))
	}
	whole := append(heal.pieces, payload...)
	if len(whole) < int(h.Total) {
		heal.pieces = whole
		return
	}
	head := wholeOf(h, len(heal.pieces))
	heal.pieces = nil // ours meanwhile: the handler may end the session
	e.takeNext(p, &head, whole)
	e.pieceBytes -= cap(whole)
}

// reservePieces makes room for a message in pieces. If the pieces of all peers take too
// much, those that have been coming longest are given up with their link: their peers
// begin again.
func (e *Engine) reservePieces(p *peer, total int) {
	for e.pieceBytes+total > e.cfg.PieceBytes {
		var oldest *peer
		for _, q := range e.peers {
			if q != p && q.heal != nil && q.heal.pieces != nil && q.link != nil &&
				(oldest == nil || q.heal.turn < oldest.heal.turn) {
				oldest = q
			}
		}
		if oldest == nil {
			break
		}
		e.count.PiecesMade++
		link := oldest.link
		e.breakLink(oldest)
		e.host.Drop(oldest.index, link, false)
	}
	e.pieceTurn++
	p.heal.turn = e.pieceTurn
	p.heal.pieces = make([]byte, 0, total)
	e.pieceBytes += total
}

// dropPieces forgets what has come of a message.
func (e *Engine) dropPieces(p *peer) {
	if p.heal != nil {
		e.pieceBytes -= cap(p.heal.pieces)
		p.heal.pieces = nil
	}
}

// fits reports whether a piece belongs behind the n bytes that have come.
func fits(h *wire.Header, n int) bool {
	if h.Kind == wire.Put {
		return int64(h.Offset) >= int64(n)
	}
	return int64(h.Offset) == int64(n)
}

// wholeOf returns the header of the whole, whose last piece follows n bytes.
func wholeOf(last *wire.Header, n int) wire.Header {
	h := *last
	h.Length = h.Total
	if h.Kind == wire.Put {
		h.Offset -= uint32(n)
		return h
	}
	h.Flags &^= wire.HasRange
	h.Total, h.Offset = 0, 0
	return h
}
