package endpoint

import "gomx/transport/wire"

// Detach gives the caller back the memory of a request that is under way. A send, a put, a get, or a receive by pipelined rendezvous
// goes on with a copy. mem is that copy, in one piece, into which a message is then received; nil if the request needs none. If free is true, nothing accesses the caller's memory any more. If it is false, the request is a receive that waits, a receive or get
// that a link writes into, an atomic whose result is awaited, or a send to ourselves whose bytes the handler reads in place.
func (e *Engine) Detach(h Handle) (mem []byte, free bool, err error) {
	_, r := e.reqs.user(h)
	switch {
	case r == nil:
		return nil, false, ErrBadRequest
	case r.kind == kindConnect:
		r.vec.First = nil // the answer is dropped when it comes
		return nil, true, nil
	case r.state == stateBuffered, r.state == stateComplete, r.kind == kindWatch, r.kind == kindThreshold:
		return nil, true, nil
	case h == e.read || !r.movable():
		return nil, false, nil
	}
	e.unexport(r, false)
	if p := e.peers[r.peer]; r.flags&pushed != 0 && p.link != nil {
		p.link.Reclaim() // of all that was sent of it: the peer has not said that it has everything
		p.pushing = 0
	}
	r.flags &^= pushed
	mem = make([]byte, r.vec.Len())
	r.vec.Gather(mem, 0)
	if r.flags&listed != 0 {
		clear(r.list)
		r.list = r.list[:0]
		r.flags &^= listed
	}
	r.vec = wire.Vec{First: mem}
	return mem, true, nil
}

// movable reports whether a pending request can go on with other memory.
func (r *request) movable() bool {
	switch r.kind {
	case kindSend, kindAckedSend, kindSyncSend, kindPut, kindAtomic:
		return r.state == stateQueued || r.state == stateUnpaid || r.state == stateOffered || r.unbegun()
	case kindRecv:
		return r.state == statePulling && r.pull != none
	case kindGet:
		return r.state == stateQueued || r.state == stateAsked || r.state == statePulling && r.pull != none || r.unbegun()
	}
	return false
}

// unexport ends the export of a request's memory, if there is one. read: the peer reads nothing of it any more.
func (e *Engine) unexport(r *request, read bool) {
	if r.flags&exported == 0 {
		return
	}
	if p := e.peers[r.peer]; p.link != nil {
		p.link.Unexport(r.token, read)
	}
	r.flags &^= exported
}
