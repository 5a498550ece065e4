package endpoint

// tie ties a receive to the session of a peer. False: that session is over, and the receive complete.
func (e *Engine) tie(slot int32, r *request, from Addr) bool {
	r.state, r.peer, r.session, r.msgLen = stateTied, from.Peer, from.Session, 0
	p := e.peers[from.Peer]
	if p.direct && p.remote == from.Session {
		return true // its end shows without asking
	}
	if code, over := e.over(p, from.Session); over {
		e.fail(slot, r, code)
		return false
	}
	r.tied = p.index
	e.expectSession(p, r)
	return true
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
