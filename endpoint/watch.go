package endpoint

// Watch makes a request that stays pending as long as the session with the peer
// lives, and then completes with the status that ended it. Nothing is sent for it;
// over a medium that says nothing of a peer that vanished, a silent one is asked now
// and then. If the session is over already, the request is complete. Cancel takes
// it back.
func (e *Engine) Watch(of Addr, match uint64, ctx any) (Handle, error) {
	if !e.known(of) {
		return 0, ErrBadAddress
	}
	p := e.peers[of.Peer]
	slot, r := e.reqs.alloc()
	r.kind, r.state, r.peer, r.session = kindWatch, stateWatching, of.Peer, of.Session
	r.match, r.msgLen, r.xferLen, r.started, r.ctx = match, 0, 0, e.begins(), ctx
	if code, over := e.over(p, r.session); over {
		e.complete(slot, r, code)
	} else {
		e.expectSession(p, r)
	}
	return handleOf(slot, r.generation), nil
}
