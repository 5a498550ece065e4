package endpoint

// Cancel takes back a receive that has not matched, a connect that has not
// ended, a watch, a threshold, or a triggered operation that has not begun (IX.1.1). True: the request is gone. False: too late, collect it.
func (e *Engine) Cancel(h Handle) (bool, error) {
	slot, r := e.reqs.user(h)
	if r == nil {
		return false, ErrBadRequest
	}
	switch {
	case r.unbegun():
		e.unhold(r)
	case r.kind != kindRecv && r.kind != kindConnect && r.kind != kindWatch && r.kind != kindThreshold && r.kind != kindRecvMulti:
		return false, ErrCancelSend
	case r.kind == kindRecvMulti && r.state == statePosted && (r.window > 0 || e.announces(h)):
		e.retire(slot, r) // its memory has messages that come, or that nobody has collected
		e.endMulti(slot, r)
		return false, nil
	case r.state == statePosted, r.state == stateTied:
		e.unpost(slot)
		e.untie(r)
	case r.state == stateWatching:
		e.untie(r)
	case r.state == stateCounting:
		e.unwait(r)
	case r.state != stateWaiting:
		return false, nil
	}
	kind, peer, asked := r.kind, r.peer, r.underReview()
	e.reqs.release(slot, r)
	e.ended++ // who waits for it is to see that it is gone
	e.withdrawn++
	if kind == kindConnect {
		e.giveUpConnect(e.peers[peer], asked)
	}
	return true, nil
}

// Forget detaches the caller from a request: it is freed when it completes, without a notice
// (IX.1.2). The handle is stale at once.
func (e *Engine) Forget(h Handle) error {
	slot, r := e.reqs.user(h)
	if r == nil {
		return ErrBadRequest
	}
	if r.state == stateComplete {
		e.doneOf(r).remove(&e.reqs, slot, r)
		e.reqs.release(slot, r)
		return nil
	}
	e.disown(r)
	return nil
}

// disown takes a request from its user, for whom it has ended.
func (e *Engine) disown(r *request) {
	r.flags |= forgotten
	e.ended++
	e.withdrawn++
}
