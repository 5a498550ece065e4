package endpoint

import "gomx/transport/wire"

// RecvFrom is Recv tied to a peer: if the session with it ends before a message has
// matched, the receive completes with the status that ended it. Matching is by bits
// alone, so that the receive may get the message of somebody else. Of a session that
// is over already it takes what has arrived and waits, and else is complete at once.
func (e *Engine) RecvFrom(v wire.Vec, from Addr, value, mask uint64, ctx any) (Handle, error) {
	if !e.known(from) {
		return 0, ErrBadAddress
	}
	if err := e.checkRecv(&v, value, mask); err != nil {
		return 0, err
	}
	slot, r := e.reqs.alloc()
	r.kind, r.state = kindRecv, stateTied
	r.keep(v)
	r.ctx = ctx
	r.match, r.mask, r.started = value, mask, e.now
	h := handleOf(slot, r.generation)
	if e.unexp.Len() > 0 {
		if id, ok := e.unexp.Find(value, mask); ok {
			e.receiveStored(slot, r, id)
			return h, nil
		}
	}
	r.peer, r.session, r.msgLen = from.Peer, from.Session, 0
	p := e.peers[from.Peer]
	if code, over := e.over(p, from.Session); over {
		r.xferLen = 0
		r.drop()
		e.complete(slot, r, code)
		return h, nil
	}
	e.posted.Post(slot, value, mask)
	if !e.local(p) {
		r.tied = p.index
		e.expectSession(p, r)
	}
	return h, nil
}

// RecvOneFrom is RecvFrom into one segment, and its fast path.
func (e *Engine) RecvOneFrom(b []byte, from Addr, value, mask uint64, ctx any) (Handle, error) {
	if value&^mask != 0 || e.cfg.ContextBits != 0 || e.unexp.Len() > 0 || !e.direct(from) {
		return e.RecvFrom(wire.Vec{First: b}, from, value, mask, ctx)
	}
	slot, r := e.reqs.alloc()
	r.kind, r.state = kindRecv, stateTied
	r.vec.First = b
	if ctx != nil {
		r.ctx = ctx
	}
	r.peer, r.session, r.match, r.msgLen = from.Peer, from.Session, value, 0
	e.posted.Post(slot, value, mask)
	return handleOf(slot, r.generation), nil
}

// direct reports whether an address is of the session of a peer whose end shows
// without asking.
func (e *Engine) direct(a Addr) bool {
	if uint(a.Peer) >= uint(len(e.peers)) {
		return false
	}
	p := e.peers[a.Peer]
	return p.direct && p.remote == a.Session
}

// over returns how a session with a peer has ended. False: it has not.
func (e *Engine) over(p *peer, session uint32) (Code, bool) {
	switch {
	case session != p.remote:
		return BadSession, true
	case e.local(p):
		return Success, false
	case p.state == peerGone:
		return p.goneCode, true
	case p.state != peerConnected:
		return BadSession, true
	}
	return Success, false
}

// untie ends the waiting of a request for its peer: of a tied receive not necessarily
// the one whose message it got.
func (e *Engine) untie(r *request) {
	if r.flags&expecting == 0 {
		return
	}
	peer := r.peer
	if r.kind == kindRecv {
		peer = r.tied
	}
	e.peers[peer].answered()
	r.flags &^= expecting
}

// endTied ends a tied receive that nothing has matched.
func (e *Engine) endTied(slot int32, r *request, code Code) {
	e.posted.Cancel(slot)
	r.xferLen = 0
	r.drop()
	e.complete(slot, r, code)
}
