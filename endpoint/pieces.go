package endpoint

import "gomx/transport/wire"

// An eager message that is kept may be larger than the frames of the link that it is
// to be sent again over, if that is of another medium. It goes in pieces then: eager
// frames which say, with HasRange, what place of the message they bring. They follow
// each other, and all have the message's sequence number, since it is taken with the
// last of them. What has come of it is forgotten when the link breaks.

// mostPieces bounds the bytes of a message in pieces. No more than that is kept.
const mostPieces = healBytes

// sendPieces sends what is left of the message in out, and reports whether all of it
// went.
func (e *Engine) sendPieces(p *peer, kept *wire.Header) bool {
	for off := &p.heal.sent; ; {
		h := &e.header
		*h = *kept
		h.Flags |= wire.HasRange
		h.Total, h.Offset = kept.Length, uint32(*off)
		h.Length = min(kept.Length-h.Offset, uint32(p.caps.MaxFrame))
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
func (e *Engine) arrivePiece(p *peer, h *wire.Header, payload []byte) bool {
	heal := p.heal
	if heal == nil || len(payload) == 0 || h.Total > mostPieces || int(h.Offset) != len(heal.pieces) ||
		uint64(h.Offset)+uint64(len(payload)) > uint64(h.Total) {
		e.corrupt(p)
		return true
	}
	whole := append(heal.pieces, payload...)
	if len(whole) < int(h.Total) {
		heal.pieces = whole
		return true
	}
	head, session := *h, p.local
	head.Flags &^= wire.HasRange
	head.Length, head.Total, head.Offset = h.Total, 0, 0
	heal.pieces = nil // ours meanwhile: the handler may end the session
	if e.takeNext(p, &head, whole) {
		return true
	}
	if p.heal == heal && p.local == session {
		heal.pieces = whole[:len(whole)-len(payload)] // the last piece is offered again
	}
	return false
}
