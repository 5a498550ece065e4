package endpoint

import "gomx/transport/wire"

// One-sided operations. A put or get of a peer becomes a request of ours while it
// is served, unless its bytes came in the frame. Such a request is never completed by
// the user, and pins its window. An atomic is carried out when its frame is taken. It
// becomes a request only if the link has no room for the answer, and pins nothing.

// mostOutstanding bounds the outstanding puts, gets and atomics of a side towards a peer. Each takes a
// request at the peer, or an answer that may have to wait. Further ones are queued in order.
const mostOutstanding = 256

// accessFlags are those of the frames that name a window or offer its bytes.
const accessFlags = wire.HasID | wire.HasRange

func (r *request) oneSided() bool { return r.kind >= kindPut && r.kind <= kindFetch }

// serves reports whether a request serves a peer, so that the user does not see it.
func (r *request) serves() bool { return r.kind >= kindPutIn && r.kind <= kindFetchOut }

func (p *peer) outstandingFull() bool { return p.outstanding >= mostOutstanding }

// startAccess begins a put, get or atomic.
func (e *Engine) startAccess(kind requestKind, v wire.Vec, to Addr, window uint64, at uint32, match uint64, ctx any) (Handle, error) {
	slot, r, err := e.outgoing(kind, &v, to, match, ctx)
	if err != nil {
		return 0, err
	}
	r.window, r.at = window, at
	e.sendSlow(e.peers[to.Peer], slot, r, v)
	return handleOf(slot, r.generation), nil
}

// transmitAccess hands a put, get or atomic to the link. False: it has to wait.
func (e *Engine) transmitAccess(p *peer, slot int32, r *request) bool {
	if p.outstandingFull() {
		return false
	}
	if e.recorder != nil {
		e.recorder.begin()
	}
	var sent bool
	switch {
	case r.kind == kindGet:
		sent = e.transmitGet(p, slot, r)
	case r.kind != kindPut:
		sent = e.transmitAtomic(p, slot, r)
	case int(r.msgLen) <= p.eagerLimit(e.cfg.EagerLimit):
		sent = e.transmitPut(p, slot, r)
	default:
		sent = e.transmitPutOffer(p, slot, r)
	}
	if sent {
		r.flags |= counted
		p.outstanding++
		if e.recorder != nil {
			e.recorder.access(accessKinds[r.kind], p, r.window, r.at, r.msgLen, handleOf(slot, r.generation))
		}
	}
	return sent
}

// accessSelf carries out a put, get or atomic on a window of our own.
func (e *Engine) accessSelf(p *peer, slot int32, r *request) {
	need, m := MayWrite, p.medium
	switch r.kind {
	case kindAtomic, kindFetch:
		e.atomicSelf(p, slot, r)
		return
	case kindGet:
		need = MayRead
	}
	mem, disposition := e.reach(p, r.window, r.at, r.msgLen, need)
	if disposition == wire.Taken {
		e.used(e.windows.at(r.window), r.kind == kindPut)
		m.BytesSent += uint64(r.msgLen)
		m.BytesReceived += uint64(r.msgLen)
		if r.kind == kindPut {
			r.vec.Gather(mem, 0)
			m.PutsServed++
		} else {
			r.vec.Scatter(0, mem)
			m.GetsServed++
		}
	}
	if r.kind == kindPut {
		m.Puts++
	} else {
		m.Gets++
	}
	if e.recorder != nil {
		asked, served := EventPut, EventPutServed
		if r.kind == kindGet {
			asked, served = EventGet, EventGetServed
		}
		e.recorder.ownAccess(asked, served, p, r.window, r.at, r.msgLen, handleOf(slot, r.generation), disposition == wire.Taken)
	}
	e.completeAccess(slot, r, outcome(disposition))
}

// completeAccess ends a put, get or atomic: all of it has been moved, or none counts.
func (e *Engine) completeAccess(slot int32, r *request, code Code) {
	if code != Success {
		r.xferLen = 0
	}
	e.complete(slot, r, code)
}

// outcome is the code of a put, get or atomic that the peer has reported on.
func outcome(disposition uint32) Code {
	switch disposition {
	case wire.Taken:
		return Success
	case wire.NoWindow:
		return BadRDMAWindow
	case wire.OutOfRange:
		return BadRDMARange
	case wire.NotPermitted:
		return RDMANotPermitted
	case wire.Unfit:
		return BadAtomic
	}
	return Aborted
}

// unserved ends the session of a peer that exceeds mostOutstanding, and reports whether it did.
func (e *Engine) unserved(p *peer) bool {
	if p.served+p.unanswered < mostOutstanding {
		return false
	}
	e.breach(p)
	return true
}

// isAnswer is the sequence number of a notice that answers a put, get or atomic, while it waits
// for the link.
const isAnswer = ^uint32(0)

// answer tells a peer what became of its put, get or atomic.
func (e *Engine) answer(p *peer, id uint64, taken, disposition uint32) {
	h := notice(id, taken, disposition)
	h.Seq = isAnswer
	e.control(p, h)
}

// serve makes the request of a peer's put or get. None: the window does not permit it, or the peer
// exceeds mostOutstanding.
func (e *Engine) serve(p *peer, h *wire.Header, kind requestKind, need Permission) (slot int32, r *request) {
	if e.unserved(p) {
		return none, nil
	}
	mem, disposition := e.reach(p, h.Match, h.Offset, h.Total, need)
	if disposition != wire.Taken {
		e.answer(p, h.ID, 0, disposition)
		return none, nil
	}
	slot, r = e.reqs.alloc()
	r.kind, r.flags, r.peer, r.session = kind, forgotten|counted, p.index, p.remote
	r.match, r.msgLen, r.xferLen, r.started = 0, h.Total, h.Total, e.now
	r.window, r.at, r.remote = h.Match, h.Offset, h.ID
	r.vec.First = mem
	p.served++
	e.windows.at(h.Match).busy++
	return slot, r
}

// discount takes a request out of those that its peer, or we towards the peer, have
// under way.
func (e *Engine) discount(slot int32, r *request) {
	r.flags &^= counted
	p := e.peers[r.peer]
	if !r.oneSided() {
		p.served--
		return
	}
	if e.recorder != nil {
		e.recorder.answered(p, slot, r)
	}
	if p.outstanding--; p.queue.head != none {
		e.wait(p)
	}
}

// release lets go of the window of a peer's put or get that has ended.
func (e *Engine) release(r *request) {
	if w := e.windows.at(r.window); r.code == Success {
		e.used(w, r.kind == kindPutIn)
	}
	e.unpin(r.window)
}

// used notes that a put or a get has been carried out on a window.
func (e *Engine) used(w *memoryWindow, put bool) {
	if !put {
		w.gets++
		return
	}
	w.puts++
	if w.counter != nil {
		e.tick(w.counter, Success)
	}
}

// withdraw ends a peer's put or get because its window is closed, or is not for it any more.
func (e *Engine) withdraw(slot int32, r *request, why uint32) {
	if r.flags&failing != 0 {
		return // its session is over, and the link not done with the memory
	}
	e.count.Withdrawn++
	p := e.peers[r.peer]
	e.answer(p, r.remote, 0, why)
	if r.state == statePulling {
		e.failPull(slot, r, BadRDMAWindow)
		return
	}
	if r.state == stateQueued {
		e.reqs.remove(&p.answers, r)
	}
	if r.flags&pushed != 0 && p.link != nil {
		// The peer has not said that it has everything, so the link may still read what
		// was sent before the last piece as well.
		p.link.Reclaim()
		p.pushing = 0
	}
	e.complete(slot, r, BadRDMAWindow)
}
