package endpoint

import "gomx/transport/wire"

// transmitEager sends a whole message in one frame. A synchronous or acknowledged one is
// buffered by that, and complete when the receiver's Notify comes. With AsHeader it is
// paid for as a header.
func (e *Engine) transmitEager(p *peer, slot int32, r *request, as wire.Flags) bool {
	h := &e.header
	*h = wire.Header{Kind: wire.Eager, Flags: as, Length: r.msgLen, Match: r.match}
	if r.kind != kindSend {
		h.Flags |= r.answer()
		h.ID = uint64(handleOf(slot, r.generation))
	}
	if e.recorder != nil {
		e.recorder.begin()
	}
	if !e.post(p, h, &r.vec, 0) {
		return false
	}
	if as == 0 {
		p.credit.bytes -= wire.Cost(int(r.msgLen))
	} else {
		p.credit.headers -= wire.Headers(int(r.msgLen))
	}
	e.classes.over(p.medium, r.match).send(int(r.msgLen))
	if e.recorder != nil {
		e.recorder.sent(EventSent, p, r.match, int(r.msgLen), handleOf(slot, r.generation), r.kind != kindSend)
	}
	if r.kind != kindSend {
		r.state = stateBuffered
		r.vec = wire.Vec{}
		e.expectAnswer(p, r)
		return true
	}
	e.complete(slot, r, Success)
	return true
}

// receiveEager puts an eager message into the receive that matched it.
func (e *Engine) receiveEager(p *peer, slot int32, h *wire.Header, payload []byte) {
	r := e.reqs.at(slot)
	if r.kind == kindRecvMulti {
		if e.receivePart(p, slot, r, h, payload) {
			return
		}
		slot, r = e.partOf(slot, r, uint32(len(payload)))
	}
	n, code := len(payload), Success
	if n > len(r.vec.First) {
		if n = min(n, r.vec.Len()); n < len(payload) {
			code = Truncated
			p.medium.BytesReceived += uint64(len(payload) - n)
		}
	}
	e.classes.over(p.medium, h.Match).receive(n)
	if e.recorder != nil {
		e.recorder.came(EventMatched, 0, p, h, len(payload), handleOf(slot, r.generation))
	}
	r.peer, r.session = p.index, p.remote
	r.match, r.msgLen, r.xferLen = h.Match, uint32(len(payload)), uint32(n)
	if wire.CopyBytes(r.vec.First, payload) < n { // late, as fewer values have to outlive the call
		r.vec.Scatter(0, payload)
	}
	if h.Flags&wire.HasID != 0 { // after the copy: the sender may look at the bytes, or have somebody else do so
		e.notify(p, h.ID, uint32(n), dispositionOf(code))
	}
	e.complete(slot, r, code)
}

// notify tells the sender of a message that wants to know what became of it.
func (e *Engine) notify(p *peer, id uint64, taken uint32, disposition uint32) {
	e.control(p, notice(id, taken, disposition))
}

func notice(id uint64, taken, disposition uint32) wire.Header {
	return wire.Header{
		Kind: wire.Notify, Flags: wire.HasID | wire.HasRange,
		ID: id, Total: taken, Offset: disposition,
	}
}

func dispositionOf(c Code) uint32 {
	switch c {
	case Success:
		return wire.Taken
	case Truncated:
		return wire.Truncated
	}
	return wire.Failed
}
