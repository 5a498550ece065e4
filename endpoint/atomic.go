package endpoint

import "gomx/transport/wire"

// Atomic combines operands with the elements of a peer's window from an offset on. With a.Fetch the request is complete when what was there
// before is in b, from its beginning; otherwise when the peer has combined them. The operands are b, and must stay as they are until the
// request is buffered or complete. A compare-and-swap has those to compare with in the first half, and in the second those that take their
// place. For the rest it is as Put. Errors: ErrBadParam for operands that don't fit the operation, the type or the offset, ErrBadSegMem for
// more of them than wire.MaxAtomic.
func (e *Engine) Atomic(a wire.AtomicWhat, b []byte, to Addr, window uint64, at uint32, match uint64, ctx any) (Handle, error) {
	slot, r, v, err := e.newAtomic(a, b, to, window, at, match, ctx)
	if err != nil {
		return 0, err
	}
	e.sendSlow(e.peers[to.Peer], slot, r, v)
	return handleOf(slot, r.generation), nil
}

// newAtomic makes the request of an atomic.
func (e *Engine) newAtomic(a wire.AtomicWhat, b []byte, to Addr, window uint64, at uint32, match uint64, ctx any) (int32, *request, wire.Vec, error) {
	v := wire.Vec{First: b}
	touched, err := e.atomicSize(a, b, to, at)
	if err != nil {
		return 0, nil, v, err
	}
	kind := kindAtomic
	if a.Fetch {
		kind = kindFetch
	}
	slot, r, err := e.outgoing(kind, &v, to, match, ctx)
	if err != nil {
		return 0, nil, v, err
	}
	r.msgLen, r.xferLen = uint32(touched), uint32(touched)
	r.window, r.at, r.remote = window, at, uint64(a.Word())
	return slot, r, v, nil
}

// AtomicNow is Atomic that is over for its initiator when it has left: there is no request, and the peer answers nothing, also
// if it refuses. It counts there among those that no window permits. False: it can't leave now, and the caller may begin an Atomic.
func (e *Engine) AtomicNow(a wire.AtomicWhat, b []byte, to Addr, window uint64, at uint32) (bool, error) {
	a.Fetch = false
	touched, err := e.atomicSize(a, b, to, at)
	if err != nil {
		return false, err
	}
	p := e.peers[to.Peer]
	switch {
	case to.Session != p.remote:
		return false, nil
	case e.local(p):
		e.combineNow(p, a, b, window, at)
		return true, nil
	}
	h := &e.header
	*h = wire.Header{Kind: wire.Atomic, Flags: wire.HasRange, Length: uint32(len(b)), Match: window, Total: a.Word(), Offset: at}
	e.one.First = b
	if e.recorder != nil {
		e.recorder.begin()
	}
	if !p.mayWrite() || !e.post(p, h, &e.one, 0) {
		return false, nil
	}
	p.medium.Atomics++
	p.medium.BytesSent += uint64(len(b))
	if e.recorder != nil {
		e.recorder.access(EventAtomic, p, window, at, uint32(touched), 0)
	}
	return true, nil
}

// AtomicHere carries out an atomic on a window of our own at once, without a request, whose code is returned. With a.Fetch, what was there before is in b,
// from its beginning. Errors: those of Atomic.
func (e *Engine) AtomicHere(a wire.AtomicWhat, b []byte, window uint64, at uint32) (Code, error) {
	if _, err := e.atomicSize(a, b, e.Self(), at); err != nil {
		return 0, err
	}
	return e.combineHere(e.peers[0], a, b, window, at, 0), nil
}

// combineNow combines operands with a window of our own for whoever does not want to know of it.
func (e *Engine) combineNow(own *peer, a wire.AtomicWhat, b []byte, window uint64, at uint32) {
	n, disposition := e.carryOut(own, a, b, nil, window, at)
	e.combined(own, window, at, n, disposition, 0)
}

// combined counts an atomic on a window of our own.
func (e *Engine) combined(own *peer, window uint64, at uint32, n int, disposition uint32, h Handle) {
	own.medium.Atomics++
	if e.recorder != nil {
		e.recorder.ownAccess(EventAtomic, EventAtomicServed, own, window, at, uint32(n), h, disposition == wire.Taken)
	}
}

// combineHere combines operands with a window of our own, and leaves what was there before in their place.
func (e *Engine) combineHere(own *peer, a wire.AtomicWhat, b []byte, window uint64, at uint32, h Handle) Code {
	n, disposition := e.carryOut(own, a, b, e.fetched[:], window, at)
	e.combined(own, window, at, n, disposition, h)
	if a.Fetch && disposition == wire.Taken {
		copy(b, e.fetched[:n])
	}
	return outcome(disposition)
}

// atomicSize returns how many bytes of a window an atomic is about.
func (e *Engine) atomicSize(a wire.AtomicWhat, b []byte, to Addr, at uint32) (int, error) {
	touched, ok := a.Touches(len(b), at)
	switch {
	case !ok:
		return 0, ErrBadParam
	case len(b) > wire.MaxAtomic:
		return 0, ErrBadSegMem
	case !e.known(to):
		return 0, ErrBadAddress
	}
	return touched, nil
}

// transmitAtomic sends the operands.
func (e *Engine) transmitAtomic(p *peer, slot int32, r *request) bool {
	n := len(r.vec.First)
	h := &e.header
	*h = wire.Header{
		Kind: wire.Atomic, Flags: wire.HasID | wire.HasRange, Length: uint32(n), Match: r.window,
		ID: uint64(handleOf(slot, r.generation)), Total: uint32(r.remote), Offset: r.at,
	}
	if !e.post(p, h, &r.vec, 0) {
		return false
	}
	p.medium.Atomics++
	p.medium.BytesSent += uint64(n)
	if r.kind == kindFetch {
		r.state = stateAsked
	} else {
		r.state = stateBuffered
		r.drop()
	}
	e.expectAnswer(p, r)
	return true
}

// arriveAtomic carries out a peer's atomic. What is answered is kept until the link has taken it, and the medium sees to it that
// the frame is looked at once.
func (e *Engine) arriveAtomic(p *peer, h *wire.Header, payload []byte) {
	a, ok := wire.ParseAtomic(h.Total)
	answers := h.Flags&wire.HasID != 0
	if h.Flags&wire.HasRange == 0 || !ok || len(payload) > wire.MaxAtomic || a.Fetch && !answers {
		e.count.Malformed++
		return
	}
	if answers && e.unserved(p) {
		return
	}
	n, disposition := e.carryOut(p, a, payload, e.fetched[:], h.Match, h.Offset)
	if e.recorder != nil && disposition == wire.Taken {
		e.recorder.served(EventAtomicServed, p, h, uint32(n))
	}
	switch {
	case !answers:
	case a.Fetch && disposition == wire.Taken:
		e.answerFetch(p, h, e.fetched[:n])
	default:
		e.answer(p, h.ID, uint32(n), disposition)
	}
}

// carryOut combines operands with a window of ours, and returns how many bytes of it. With Fetch, what was there before is copied to
// old.
func (e *Engine) carryOut(p *peer, a wire.AtomicWhat, operands, old []byte, window uint64, at uint32) (n int, disposition uint32) {
	n, ok := a.Touches(len(operands), at)
	if !ok {
		e.count.NoAccess++
		return 0, wire.Unfit
	}
	mem, disposition := e.reach(p, window, at, uint32(n), needs(a))
	if disposition != wire.Taken {
		return 0, disposition
	}
	p.medium.AtomicsServed++
	p.medium.BytesReceived += uint64(len(operands))
	if a.Fetch {
		copy(old, mem)
	}
	combine(a, mem, operands)
	e.used(e.windows.at(window), a.Op != wire.AtomicRead)
	return n, wire.Taken
}

// needs returns what a window must permit for an atomic.
func needs(a wire.AtomicWhat) Permission {
	switch {
	case a.Op == wire.AtomicRead:
		return MayRead
	case a.Fetch:
		return MayRead | MayWrite
	}
	return MayWrite
}

// answerFetch sends what was there before, now or when the link takes it.
func (e *Engine) answerFetch(p *peer, asked *wire.Header, old []byte) {
	id, window := asked.ID, asked.Match // the header may be our own scratch
	if p.answers.head == none && p.control.len() == 0 && p.greetings.len() == 0 && !p.mute() {
		h := &e.header
		*h = wire.Header{Kind: wire.AtomicData, Flags: wire.HasID, Length: uint32(len(old)), ID: id}
		e.out = wire.Vec{First: old}
		if e.post(p, h, &e.out, 0) {
			p.medium.BytesSent += uint64(len(old))
			return
		}
	}
	slot, r := e.reqs.alloc()
	r.kind, r.flags, r.peer, r.session, r.state = kindFetchOut, forgotten|counted, p.index, p.remote, stateQueued
	r.match, r.msgLen, r.xferLen, r.started = 0, uint32(len(old)), uint32(len(old)), e.now
	r.window, r.remote = window, id
	r.vec.First = e.frames.get(len(old))
	copy(r.vec.First, old)
	p.served++
	e.reqs.push(&p.answers, slot, r)
	e.wait(p)
}

// arriveAtomicData takes what was there before an atomic of ours.
func (e *Engine) arriveAtomicData(p *peer, h *wire.Header, payload []byte) {
	if slot, r := e.asked(p, kindFetch, h.ID, len(payload)); r != nil {
		copy(r.vec.First, payload)
		p.medium.BytesReceived += uint64(len(payload))
		e.complete(slot, r, Success)
	}
}

// atomicSelf carries out an atomic on a window of our own.
func (e *Engine) atomicSelf(p *peer, slot int32, r *request) {
	a, _ := wire.ParseAtomic(uint32(r.remote))
	e.completeAccess(slot, r, e.combineHere(p, a, r.vec.First, r.window, r.at, handleOf(slot, r.generation)))
}
