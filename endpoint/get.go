package endpoint

import "gomx/transport/wire"

// Get reads bytes of a window of a peer into v, from offset at on, as many as v has
// room for. The request is complete when they are there. For the rest it is as Put.
func (e *Engine) Get(v wire.Vec, from Addr, window uint64, at uint32, match uint64, ctx any) (Handle, error) {
	return e.startAccess(kindGet, v, from, window, at, match, ctx)
}

// transmitGet asks for the bytes.
func (e *Engine) transmitGet(p *peer, slot int32, r *request) bool {
	h := &e.header
	*h = wire.Header{
		Kind: wire.Get, Flags: wire.HasID | wire.HasRange, Match: r.window,
		ID: uint64(handleOf(slot, r.generation)), Total: r.msgLen, Offset: r.at,
	}
	if !e.post(p, h, nil, 0) {
		return false
	}
	p.medium.Gets++
	r.state = stateAsked
	e.expectAnswer(p, r)
	return true
}

// arriveGet takes a peer's get. It is answered at once, or when the link has room.
func (e *Engine) arriveGet(p *peer, h *wire.Header) {
	if h.Flags&accessFlags != accessFlags {
		e.count.Malformed++
		return
	}
	slot, r := e.serve(p, h, kindGetOut, MayRead)
	if r == nil {
		return
	}
	p.medium.GetsServed++
	if e.recorder != nil {
		e.recorder.served(EventGetServed, p, h, h.Total)
	}
	r.state = stateQueued
	if p.answers.head != none || p.greetings.len() > 0 || p.mute() || !e.answerGet(p, slot, r) {
		e.reqs.push(&p.answers, slot, r)
		e.wait(p)
	}
}

// answerGet sends the bytes of a get or the result of an atomic, or a memory descriptor of them. False: the link
// takes nothing now.
func (e *Engine) answerGet(p *peer, slot int32, r *request) bool {
	h := &e.header
	if int(r.msgLen) > p.eagerLimit(e.cfg.EagerLimit) && r.kind == kindGetOut {
		*h = wire.Header{
			Kind: wire.GetOffer, Flags: wire.HasID | wire.HasRange, Match: r.remote,
			ID: uint64(handleOf(slot, r.generation)), Total: r.msgLen,
		}
		e.export(p, r, Handle(h.ID))
		return e.offer(p, h, r)
	}
	*h = wire.Header{Kind: wire.GetData, Flags: wire.HasID, Length: r.msgLen, ID: r.remote}
	if r.kind == kindFetchOut {
		h.Kind = wire.AtomicData
	}
	if !e.post(p, h, &r.vec, 0) {
		return false
	}
	p.medium.BytesSent += uint64(r.msgLen)
	e.complete(slot, r, Success)
	return true
}

// flushAnswers answers gets and atomics that wait for the link, and reports whether all are.
func (e *Engine) flushAnswers(p *peer) bool {
	for p.answers.head != none {
		slot := p.answers.head
		r := e.reqs.at(slot)
		e.reqs.remove(&p.answers, r)
		if !e.answerGet(p, slot, r) {
			e.unshift(&p.answers, slot, r)
			return false
		}
	}
	return true
}

// asked finds the get or fetch of ours that the peer answers with n bytes, or ends it if
// there should be another number of them.
func (e *Engine) asked(p *peer, kind requestKind, id uint64, n int) (slot int32, r *request) {
	slot, r = e.reqs.find(Handle(id))
	if r == nil || r.peer != p.index || r.kind != kind || r.state != stateAsked {
		e.count.Stale++
		return none, nil
	}
	if n != int(r.msgLen) {
		e.count.Malformed++
		e.completeAccess(slot, r, Aborted)
		return none, nil
	}
	return slot, r
}

// arriveGetData takes the bytes of a get.
func (e *Engine) arriveGetData(p *peer, h *wire.Header, payload []byte) {
	if slot, r := e.asked(p, kindGet, h.ID, len(payload)); r != nil {
		r.vec.Scatter(0, payload)
		p.medium.BytesReceived += uint64(len(payload))
		e.complete(slot, r, Success)
	}
}

// arriveGetOffer: the bytes of a get are to be pulled.
func (e *Engine) arriveGetOffer(p *peer, h *wire.Header, desc []byte) {
	if h.Flags&accessFlags != accessFlags {
		e.count.Malformed++
		return
	}
	if slot, r := e.asked(p, kindGet, h.Match, int(h.Total)); r != nil {
		e.startRendezvous(p, slot, r, h.ID, h.Total, desc)
	}
}

// refusedGet ends a get or fetch that the peer does not answer, or whose window has been
// closed before its bytes were fetched.
func (e *Engine) refusedGet(slot int32, r *request, disposition uint32) {
	code := outcome(disposition)
	if code == Success {
		code = Aborted
	}
	switch r.state {
	case stateAsked:
		e.completeAccess(slot, r, code)
	case statePulling:
		e.failPull(slot, r, code)
	default:
		e.count.Stale++
	}
}
