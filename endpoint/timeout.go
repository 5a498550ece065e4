package endpoint

import "gomx/unexpected"

// later adds a timeout to a tick without overflow.
func later(now, timeout Tick) Tick {
	if timeout >= Never-now {
		return Never
	}
	return now + timeout
}

// SetTimeout bounds the life of one pending send, connect or matched receive
// (XII.1.2). When it passes, the request completes with TimedOut and its peer is
// disconnected. Never takes the bound away. A receive that has not matched, and is
// tied to no peer, does not time out.
func (e *Engine) SetTimeout(h Handle, timeout Tick) error {
	slot, r := e.reqs.user(h)
	if r == nil {
		return ErrBadRequest
	}
	if r.state != stateComplete {
		r.deadline = later(e.clock(), timeout)
		e.watchRequest(slot, r)
		if timeout == Never && r.state != stateTied && r.state != stateWatching {
			e.untie(r) // it waits for a peer that does not move, too
		}
	}
	return nil
}

// SetDefaultTimeout sets the timeout of future requests of the endpoint.
func (e *Engine) SetDefaultTimeout(timeout Tick) { e.cfg.RequestTimeout = timeout }

// peerDue returns when advancePeer has something to do for p.
func (e *Engine) peerDue(p *peer) Tick {
	due := Never
	if p.link == nil {
		if !p.dialled {
			due = p.redialAt
		}
		if p.broken() {
			due = min(due, e.healingDue(p))
		}
		if p.vigil.givenUp {
			due = min(due, p.vigil.lookAt)
		}
		return due
	}
	if p.asking {
		due = p.askAt
	}
	if p.byesLeft > 0 {
		due = min(due, p.byeAt)
	}
	if p.state == peerConnected {
		due = min(due, p.lookDue())
	}
	if p.rel != nil && p.state == peerConnected {
		due = min(due, e.reliabilityDue(p))
	}
	if p.heal != nil && p.state == peerConnected {
		due = min(due, e.healingDue(p))
	}
	return due
}

// advancePeer does what is due for one peer.
func (e *Engine) advancePeer(p *peer) {
	if p.link == nil && !p.dialled && e.now >= p.redialAt {
		if p.redialAt = Never; p.broken() || e.awaited(p) {
			e.dial(p)
		}
	}
	if p.asking && p.link != nil && e.now >= p.askAt && e.askAll(p) {
		e.count.ConnectsRetried++
	}
	if p.byesLeft > 0 && e.now >= p.byeAt {
		e.repeatBye(p)
	}
	if p.state == peerConnected && (p.link != nil || p.vigil.givenUp) && e.now >= p.lookDue() {
		e.look(p)
	}
	if p.rel != nil && p.state == peerConnected {
		e.advanceReliability(p)
	}
	if p.heal != nil && p.state == peerConnected {
		e.advanceHealing(p)
	}
}

// expire ends a request whose time has passed, and disconnects its peer (XII.1).
func (e *Engine) expire(slot int32, r *request) {
	p := e.peers[r.peer]
	if e.isRead(slot, r) {
		r.deadline = e.now + 1
		e.watchRequest(slot, r)
		return
	}
	switch r.state {
	case statePosted, stateSpent:
		r.deadline = Never
		return
	case stateWaiting:
		e.complete(slot, r, TimedOut)
		e.giveUpConnect(p, r.underReview())
		return
	case stateUndecided:
		e.count.Unanswered++
		e.turnDown(slot, r, NotAnswered, nil)
		return
	case stateHeld, stateReady:
		e.unhold(r)
		e.fail(slot, r, TimedOut)
		return
	case stateCounting:
		e.unwait(r)
		e.complete(slot, r, TimedOut)
		return
	}
	e.count.Timeouts++
	switch r.state {
	case stateTied:
		e.unpost(slot)
	case stateQueued:
		e.reqs.remove(&p.queue, r)
	case stateUnpaid:
		e.reqs.remove(&p.waiting, r)
	}
	h := uint64(handleOf(slot, r.generation))
	if r.state == statePulling {
		e.failPull(slot, r, TimedOut)
	} else {
		e.fail(slot, r, TimedOut)
	}
	if e.local(p) { // a send that nobody received; there is no peer to disconnect
		e.unexp.Each(func(id int32, m *unexpected.Message) {
			if storedKind(m.Kind) == storedSelf && m.ID == h {
				e.unstore(id)
			}
		})
	} else if p.state == peerConnected {
		e.disconnect(p)
	}
}
