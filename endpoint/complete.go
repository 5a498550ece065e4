package endpoint

import "gomx/transport/wire"

// complete ends a request. It happens once to each.
func (e *Engine) complete(slot int32, r *request, code Code) {
	r.code = code
	r.state = stateComplete
	if r.flags != 0 {
		if e.settle(slot, r) {
			return
		}
	}
	e.end(slot, r)
}

// end puts a completed request where its user collects it.
func (e *Engine) end(slot int32, r *request) {
	e.ended++
	e.done.add(&e.reqs, slot, r)
}

// settle does what a request's flags ask for at its end, and reports whether
// that freed it or put it into a queue.
func (e *Engine) settle(slot int32, r *request) bool {
	switch {
	case r.flags == queued|forgotten && r.kind <= kindRecv: // as most of a counter's, but also what a queue's user has forgotten
		if c := e.queues[r.queue].counter; c != nil {
			e.countRelease(slot, r, c)
			return true
		}
	case r.flags == queued && e.queues[r.queue].counter == nil: // as most of a queue's
		e.enterQueue(slot, r)
		return true
	}
	e.unexport(r, r.code == Success || r.code == Truncated)
	if r.flags&pushed != 0 {
		if p := e.peers[r.peer]; p.link != nil && p.pushing == handleOf(slot, r.generation) {
			p.pushing = 0
			p.link.Reclaim()
		}
		r.flags &^= pushed
	}
	e.untie(r)
	if r.flags&counted != 0 {
		e.discount(slot, r)
	}
	switch r.kind {
	case kindPutIn, kindGetOut:
		e.release(r)
	case kindFetchOut:
		e.frames.put(r.vec.First)
		r.vec.First = nil
	}
	switch c := e.counts(r); {
	case c != nil, r.flags&forgotten != 0:
		code, part, of := r.code, r.kind == kindPart, Handle(r.window)
		e.reqs.release(slot, r)
		if c != nil {
			e.tick(c, code)
		}
		if part {
			e.endPart(of)
		}
		return true
	case r.flags&queued != 0:
		e.enterQueue(slot, r)
		return true
	}
	return false
}

// enterQueue puts a completed request into the queue that it names.
func (e *Engine) enterQueue(slot int32, r *request) {
	e.ended++
	if r.kind == kindPart {
		e.announcePart(slot, r)
		return
	}
	e.queues[r.queue].enter(&e.reqs, slot, r)
}

// Lives reports whether the handle is not stale.
func (e *Engine) Lives(h Handle) bool {
	_, r := e.reqs.user(h)
	return r != nil
}

// Done reports whether the request is complete. A stale handle is not.
func (e *Engine) Done(h Handle) bool {
	_, r := e.reqs.user(h)
	return r != nil && r.state == stateComplete
}

// Pending reports whether the handle names a request that is not complete.
func (e *Engine) Pending(h Handle) bool {
	_, r := e.reqs.user(h)
	return r != nil && r.state != stateComplete
}

// Test collects a request if it is complete (VI.2.1): st is filled, and the
// handle is stale from then on.
func (e *Engine) Test(h Handle, st *Status) (bool, error) {
	slot, r := e.reqs.find(h)
	switch {
	case r == nil:
		return false, ErrBadRequest
	case r.state == stateComplete: // and then it was not forgotten
		e.collect(slot, r, st)
		return true, nil
	case r.flags&forgotten != 0:
		return false, ErrBadRequest
	}
	return false, nil
}

func (e *Engine) collect(slot int32, r *request, st *Status) {
	r.status(st)
	st.Source.Peer = e.shown(r.peer)
	d := e.doneOf(r)
	d.leave(slot, r)
	e.reqs.remove(&d.list, r) // both are inlined here, and doneList.remove would not be
	e.reqs.release(slot, r)
}

func (r *request) status(st *Status) {
	st.MsgLength = r.msgLen // the order: see Status.Assign
	st.Source.Session = r.session
	st.XferLength = r.xferLen
	st.Code = r.code
	st.Match = r.match
	st.Source.Peer = r.peer
	st.Context = r.ctx
}

// Buffered reports whether a send's, put's or resultless atomic's bytes have left the user's buffer
// (VI.1.1).
func (e *Engine) Buffered(h Handle) (bool, error) {
	_, r := e.reqs.user(h)
	if r == nil || (!r.sends() && r.kind != kindPut && r.kind != kindAtomic) {
		return false, ErrBadRequest
	}
	return r.state == stateBuffered || r.state == stateComplete, nil
}

// Context returns the value that the request was posted with (VI.4).
func (e *Engine) Context(h Handle) (any, error) {
	_, r := e.reqs.user(h)
	if r == nil {
		return nil, ErrBadRequest
	}
	return r.ctx, nil
}

// drop releases the user's memory of a request that needs it no more.
func (r *request) drop() { r.vec = wire.Vec{} }

// dropSent is drop for a send that may have ended: its status may not be collected for long. One that goes out at once is collected
// soon, or its user has the memory anyway.
func (e *Engine) dropSent(h Handle) {
	if _, r := e.reqs.find(h); r != nil && r.state == stateComplete {
		r.drop()
	}
}
