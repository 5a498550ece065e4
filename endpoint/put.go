package endpoint

import "gomx/transport/wire"

// Put writes the bytes of v into a window of a peer, from offset at on. The request
// is complete when they are there. They must stay as they are until it is buffered
// or complete. Whether the window is there, large enough and may be written to is
// for the peer to say: the request's status tells. The match information is for
// TestAny and does not travel.
func (e *Engine) Put(v wire.Vec, to Addr, window uint64, at uint32, match uint64, ctx any) (Handle, error) {
	return e.startAccess(kindPut, v, to, window, at, match, ctx)
}

// transmitPut sends the bytes in the frame.
func (e *Engine) transmitPut(p *peer, slot int32, r *request) bool {
	h := &e.header
	*h = putHeader(wire.Put, slot, r)
	h.Length = r.msgLen
	if !e.post(p, h, &r.vec, 0) {
		return false
	}
	p.medium.Puts++
	p.medium.BytesSent += uint64(r.msgLen)
	r.state = stateBuffered
	r.drop()
	e.expectAnswer(p, r)
	return true
}

// transmitPutOffer sends a memory descriptor of the bytes.
func (e *Engine) transmitPutOffer(p *peer, slot int32, r *request) bool {
	h := &e.header
	*h = putHeader(wire.PutOffer, slot, r)
	e.export(p, r, Handle(h.ID))
	if !e.offer(p, h, r) {
		return false
	}
	p.medium.Puts++
	return true
}

func putHeader(kind wire.Kind, slot int32, r *request) wire.Header {
	return wire.Header{
		Kind: kind, Flags: wire.HasID | wire.HasRange, Match: r.window,
		ID: uint64(handleOf(slot, r.generation)), Total: r.msgLen, Offset: r.at,
	}
}

// arrivePut takes a peer's put with its bytes. One without a request wants no answer.
func (e *Engine) arrivePut(p *peer, h *wire.Header, payload []byte) {
	if h.Flags&wire.HasRange == 0 || len(payload) != int(h.Total) {
		e.count.Malformed++
		return
	}
	if h.Flags&wire.HasID != 0 && e.unserved(p) {
		return
	}
	mem, disposition := e.reach(p, h.Match, h.Offset, h.Total, MayWrite)
	n := copy(mem, payload)
	if disposition == wire.Taken {
		e.used(e.windows.at(h.Match), true)
		p.medium.PutsServed++
		p.medium.BytesReceived += uint64(n)
		if e.recorder != nil {
			e.recorder.served(EventPutServed, p, h, h.Total)
		}
	}
	if h.Flags&wire.HasID != 0 {
		e.answer(p, h.ID, uint32(n), disposition)
	}
}

// arrivePutOffer takes a peer's put, whose bytes are fetched into the window.
func (e *Engine) arrivePutOffer(p *peer, h *wire.Header, desc []byte) {
	if h.Flags&accessFlags != accessFlags {
		e.count.Malformed++
		return
	}
	if slot, r := e.serve(p, h, kindPutIn, MayWrite); r != nil {
		p.medium.PutsServed++
		if e.recorder != nil {
			e.recorder.served(EventPutServed, p, h, h.Total)
		}
		e.startRendezvous(p, slot, r, h.ID, h.Total, desc)
	}
}
