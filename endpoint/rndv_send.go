package endpoint

import "gomx/transport/wire"

// transmitRendezvous sends the header of a large message with a memory descriptor. The
// receiver fetches the bytes when a receive matches.
func (e *Engine) transmitRendezvous(p *peer, slot int32, r *request) bool {
	h := &e.header
	*h = wire.Header{
		Kind: wire.Rendezvous, Flags: wire.HasID | wire.HasRange, Match: r.match,
		ID: uint64(handleOf(slot, r.generation)), Total: r.msgLen,
	}
	if r.kind == kindSyncSend {
		h.Flags |= wire.Sync
	}
	e.export(p, r, Handle(h.ID))
	price := wire.Headers(len(p.desc))
	if price > p.credit.headers {
		p.desc, price = p.desc[:0], 1 // without a memory descriptor: pipelined
	}
	h.Offset = uint32(price)
	if e.recorder != nil {
		e.recorder.begin()
	}
	if !e.offer(p, h, r) {
		return false
	}
	p.credit.headers -= price
	p.medium.SentRendezvous++
	e.classes.of(r.match).send(int(r.msgLen))
	if e.recorder != nil {
		e.recorder.sent(EventOffered, p, r.match, int(r.msgLen), handleOf(slot, r.generation), r.kind == kindSyncSend)
	}
	return true
}

// offer sends a frame with p.desc, the memory descriptor of a request.
func (e *Engine) offer(p *peer, h *wire.Header, r *request) bool {
	h.Length = uint32(len(p.desc))
	e.out = wire.Vec{First: p.desc}
	if !e.post(p, h, &e.out, 0) {
		return false
	}
	r.state = stateOffered
	e.expectAnswer(p, r)
	return true
}

// export sets p.desc to the memory descriptor of a send. While the link is full, the first
// send in the queue is tried repeatedly, but exported only once.
func (e *Engine) export(p *peer, r *request, h Handle) {
	if r.flags&exported != 0 && p.descOf == h {
		return
	}
	if r.flags&exported != 0 {
		p.link.Unexport(r.token, true) // p.desc was that of another send meanwhile
		r.flags &^= exported
	}
	p.desc, p.descOf = p.desc[:0], h
	if p.caps.Pull && r.msgLen > 0 {
		p.desc, r.token = p.link.Export(p.desc, &r.vec)
		r.flags |= exported
		if len(p.desc) > p.caps.MaxFrame {
			p.desc = p.desc[:0] // too many segments for a descriptor: pipelined
		}
	}
}

// arriveNotify completes a synchronous or rendezvous send, a put, or an atomic without a
// result. It also completes a get, or an atomic with a result, if the peer refuses it or
// if its bytes were fetched.
func (e *Engine) arriveNotify(p *peer, h *wire.Header) {
	slot, r := e.reqs.find(Handle(h.ID))
	switch {
	case r == nil || r.peer != p.index:
		e.count.Stale++
		return
	case r.kind == kindGet || r.kind == kindFetch:
		e.refusedGet(slot, r, h.Offset)
		return
	case r.state != stateOffered && r.state != stateBuffered:
		e.count.Stale++
		return
	}
	if r.state == stateOffered {
		p.medium.BytesSent += uint64(min(h.Total, r.msgLen))
	}
	if r.oneSided() {
		e.completeAccess(slot, r, outcome(h.Offset))
		return
	}
	if e.recorder != nil {
		e.recorder.request(EventDone, p, slot, r)
	}
	e.completeSend(slot, r, h.Total, h.Offset)
}

// completeSend ends a send that the receiver reported on. Only a synchronous
// send learns that the receive was too short: a standard one says nothing about
// the message's fate (V.1.1), whichever protocol carried it.
func (e *Engine) completeSend(slot int32, r *request, taken, disposition uint32) {
	code := Success
	switch disposition {
	case wire.Truncated:
		if r.kind == kindSyncSend {
			code, r.xferLen = Truncated, min(taken, r.msgLen)
		}
	case wire.Discarded:
		if r.msgLen > 0 && (r.kind == kindSyncSend || r.state == stateOffered && !e.sentWhole(r)) {
			code, r.xferLen = Truncated, 0
		}
	case wire.Failed:
		code, r.xferLen = Aborted, 0
	}
	r.drop()
	e.complete(slot, r, code)
}

// sentWhole reports whether a message would be eager if there were credit. A standard
// send of that kind does not report what became of it, and a lack of credit must not
// change that. Our own handler is shown the user's memory, if that is in one piece.
func (e *Engine) sentWhole(r *request) bool {
	p := e.peers[r.peer]
	if e.local(p) {
		return selfShown(r)
	}
	return p.link != nil && int(r.msgLen) <= p.eagerLimit(e.cfg.EagerLimit)
}
