package endpoint

import (
	"gomx/transport/wire"
	"gomx/unexpected"
)

// sendSelf delivers a message to the endpoint itself. It never leaves the
// engine: the bytes go from segments to segments. With progression off, or with
// a handler to be asked, it waits for the next Flush, so that handlers run only
// during progression.
func (e *Engine) sendSelf(p *peer, slot int32, r *request) {
	if p.queue.head != none || e.paused || e.handling || e.handler && !e.matches(p, r.match) {
		e.enqueue(p, slot, r)
	} else {
		e.deliverSelf(p, slot, r)
	}
}

func (e *Engine) flushSelf(p *peer) bool {
	for p.queue.head != none {
		if e.paused { // by the handler that was shown the last one
			return false
		}
		slot := p.queue.head
		r := e.reqs.at(slot)
		e.reqs.remove(&p.queue, r)
		e.deliverSelf(p, slot, r)
	}
	return true
}

// deliverSelf matches, shows or stores a message to oneself.
func (e *Engine) deliverSelf(p *peer, slot int32, r *request) {
	from := handleOf(slot, r.generation)
	if to, ok := e.arrive(p, r.match); ok {
		e.takeSelf(to, r, from)
		return
	}
	if e.handler {
		r.state = stateOffered // so that nothing else delivers it meanwhile
		if len(r.vec.Rest) == 0 {
			e.read = from
		}
		data := e.selfData(r)
		action := e.askHandler(p, r.match, r.msgLen, data)
		read := e.read
		e.read = 0
		switch {
		case e.lostSelf && read != 0:
			e.fail(slot, r, EndpointUnreachable)
			return
		case e.lostSelf:
			return // the send has ended
		}
		if action == Finished {
			p.medium.send(len(data))
			p.medium.receive(len(data))
			e.classes.of(r.match).send(int(r.msgLen))
			if e.recorder != nil {
				e.recorder.self(EventSent, 0, p, from, r.match, r.msgLen, from)
				e.recorder.self(EventMatched, EventHandled, p, from, r.match, r.msgLen, 0)
			}
			e.completeSend(slot, r, 0, wire.Discarded)
			return
		}
		if to, ok := e.match(p, r.match); ok {
			e.takeSelf(to, r, from)
			return
		}
	}
	e.storeSelf(p, slot, r)
}

// isRead reports whether the handler is being shown the memory of a request, which must not end meanwhile.
func (e *Engine) isRead(slot int32, r *request) bool {
	return e.read != 0 && handleOf(slot, r.generation) == e.read
}

// selfShown reports whether the handler gets the data of a message to ourselves.
func selfShown(r *request) bool {
	return len(r.vec.Rest) == 0 || int(r.msgLen) < AlwaysEager
}

// selfData returns the message in one piece: the user's own segment, or a copy
// if there are several and the handler is promised the data.
func (e *Engine) selfData(r *request) []byte {
	if len(r.vec.Rest) == 0 {
		return r.vec.First
	}
	if !selfShown(r) {
		return nil
	}
	return e.scratch[:r.vec.Gather(e.scratch[:r.msgLen], 0)]
}

// storeSelf stores a copy of a small message, if there is room for one, and counts it as a header if there is only room
// for that. Otherwise the bytes stay with the send.
func (e *Engine) storeSelf(p *peer, slot int32, r *request) {
	m := unexpected.Message{
		Match: r.match, Length: r.msgLen, Kind: uint8(storedSelf),
		ID: uint64(handleOf(slot, r.generation)), Aux: uint64(p.remote),
	}
	size, n := 0, int(r.msgLen)
	small := n < AlwaysEager || n <= e.cfg.EagerLimit
	copied := small && e.bytesPool.spares(&p.bytes, wire.Cost(n), e.bytesPool.size)
	if small && !copied && wire.Headers(n) == 1 && e.headerPool.spares(&p.headers, 1, e.headerPool.size/2) {
		copied, m.Flags = true, asHeader
	}
	if copied {
		size, m.Kind = n, uint8(storedEager)
		if r.kind == kindSyncSend {
			m.Flags |= uint8(wire.Sync)
		}
	}
	id := e.store(m, size)
	p.medium.SentEager++
	e.classes.of(r.match).send(int(r.msgLen))
	if e.recorder != nil {
		from := handleOf(slot, r.generation)
		e.recorder.self(EventSent, 0, p, from, r.match, r.msgLen, from)
		e.recorder.self(EventUnexpected, 0, p, from, r.match, r.msgLen, 0)
	}
	if !copied {
		r.state = stateOffered
		e.stored(id)
		return
	}
	r.vec.Gather(e.unexp.At(id).Data, 0)
	p.medium.BytesSent += uint64(r.msgLen)
	p.medium.receive(int(r.msgLen))
	if r.kind == kindSyncSend {
		r.state = stateBuffered
		r.vec = wire.Vec{}
	} else {
		e.complete(slot, r, Success)
	}
	e.stored(id)
}

// disconnectSelf ends what is under way with ourselves.
func (e *Engine) disconnectSelf() {
	from := e.peers[0]
	if e.local(from) {
		e.lostSelf = true
		e.endRequests(from, EndpointUnreachable)
	} else {
		from = e.peers[e.mirror]
		e.loseSelf(EndpointUnreachable)
	}
	e.dropStored(from, true)
}

// takeSelf gives our own send to the receive that it has matched.
func (e *Engine) takeSelf(to int32, send *request, from Handle) {
	recv := e.reqs.at(to)
	if recv.kind == kindRecvMulti {
		to, recv = e.partOf(to, recv, send.msgLen)
	}
	recv.peer, recv.session = 0, e.peers[0].remote
	recv.match, recv.msgLen = send.match, send.msgLen
	e.peers[0].medium.SentEager++
	e.classes.of(send.match).send(int(send.msgLen))
	if e.recorder != nil {
		e.recorder.self(EventSent, 0, e.peers[0], from, send.match, send.msgLen, from)
		e.recorder.self(EventMatched, 0, e.peers[0], from, send.match, send.msgLen, handleOf(to, recv.generation))
	}
	e.receiveSelf(to, recv, from)
}

// receiveSelf copies from our own send, and completes both.
func (e *Engine) receiveSelf(slot int32, r *request, from Handle) {
	p := e.peers[0]
	fromSlot, send := e.reqs.find(from)
	n := wire.Copy(&r.vec, &send.vec, int(send.msgLen))
	r.xferLen = uint32(n)
	code := Success
	if n < int(r.msgLen) {
		code = Truncated
	}
	p.medium.BytesSent += uint64(n)
	p.medium.receive(n)
	e.classes.of(r.match).receive(n)
	e.completeSend(fromSlot, send, uint32(n), dispositionOf(code))
	e.complete(slot, r, code)
}
