package endpoint

// later adds a timeout to a tick without overflow.
func later(now, timeout Tick) Tick {
	if timeout >= Never-now {
		return Never
	}
	return now + timeout
}

// SetTimeout bounds the life of one pending send, connect or matched receive
// (XII.1.2). When it passes, the request completes with TimedOut and its peer is
// disconnected. Never takes the bound away. A receive that has not matched is
// tied to no peer and does not time out.
func (e *Engine) SetTimeout(h Handle, timeout Tick) error {
	slot, r := e.reqs.user(h)
	if r == nil {
		return ErrBadRequest
	}
	if r.state != stateComplete {
		r.deadline = later(e.now, timeout)
		e.addTimed(slot, r)
	}
	return nil
}

// SetDefaultTimeout sets the timeout of future requests of the endpoint.
func (e *Engine) SetDefaultTimeout(timeout Tick) { e.cfg.RequestTimeout = timeout }

func (e *Engine) addTimed(slot int32, r *request) {
	if r.flags&timed == 0 {
		r.flags |= timed
		e.timedRq = append(e.timedRq, handleOf(slot, r.generation))
	}
}

// Advance moves the clock and does what has become due: acks, retransmission,
// connects asked again, timeouts.
func (e *Engine) Advance(now Tick) {
	if now < e.now {
		return
	}
	e.now = now
	if len(e.timedRq) > 0 {
		e.advanceRequests()
	}
	if len(e.pulls.live) > 0 {
		e.advancePulls()
	}
	for i := 0; i < len(e.timers); {
		p := e.peers[e.timers[i]]
		if e.advancePeer(p) {
			i++
			continue
		}
		p.inTimers = false
		last := len(e.timers) - 1
		e.timers[i] = e.timers[last]
		e.timers = e.timers[:last]
	}
}

// NextDue returns the tick by which Advance must be called again, or Never.
func (e *Engine) NextDue() Tick {
	due := Never
	for _, h := range e.timedRq {
		if _, r := e.reqs.find(h); r != nil && r.state != stateComplete {
			due = min(due, r.deadline)
		}
	}
	for _, i := range e.pulls.live {
		due = min(due, e.pullDue(e.pulls.items[i]))
	}
	for _, i := range e.timers {
		due = min(due, e.peerDue(e.peers[i]))
	}
	return due
}

// peerDue returns when advancePeer has something to do for p.
func (e *Engine) peerDue(p *peer) Tick {
	due := Never
	if p.link == nil {
		return due
	}
	if p.asking {
		due = p.askAt
	}
	if p.partings > 0 {
		due = min(due, p.partAt)
	}
	if p.rel != nil && p.state == peerConnected {
		due = min(due, p.rel.nextDue(p.recvSeq, e.now))
	}
	return due
}

func (e *Engine) watchTimers(p *peer) {
	if !p.inTimers {
		p.inTimers = true
		e.timers = append(e.timers, p.index)
	}
}

// advancePeer does what is due for one peer, and reports whether it must be
// looked at again.
func (e *Engine) advancePeer(p *peer) bool {
	if p.asking && p.link != nil && e.now >= p.askAt && e.askAll(p) {
		e.count.ConnectsAgain++
	}
	if p.partings > 0 && e.now >= p.partAt {
		e.repeatBye(p)
	}
	if p.rel != nil && p.state == peerConnected {
		e.advanceReliability(p)
	}
	return e.peerDue(p) != Never
}

// advanceRequests expires requests whose own deadline has passed, and forgets
// the handles of those that have ended.
func (e *Engine) advanceRequests() {
	for i := 0; i < len(e.timedRq); {
		slot, r := e.reqs.find(e.timedRq[i])
		if r != nil && r.state != stateComplete && r.deadline > e.now {
			i++
			continue
		}
		last := len(e.timedRq) - 1
		e.timedRq[i] = e.timedRq[last]
		e.timedRq = e.timedRq[:last]
		if r != nil && r.state != stateComplete {
			r.flags &^= timed
			e.expire(slot, r)
		}
	}
}

// expire ends a request whose time has passed, and disconnects its peer (XII.1).
func (e *Engine) expire(slot int32, r *request) {
	p := e.peers[r.peer]
	switch r.state {
	case statePosted:
		return
	case stateWaiting:
		e.complete(slot, r, TimedOut)
		e.undial(p)
		return
	}
	e.count.Timeouts++
	if p.index == 0 {
		e.expireSelf(slot, r)
		return
	}
	if r.state == stateQueued {
		e.reqs.remove(&p.queue, r)
	}
	if r.state == statePulling {
		e.failPull(slot, r, TimedOut)
	} else {
		r.xferLen = 0
		e.complete(slot, r, TimedOut)
	}
	if p.state == peerConnected {
		e.part(p)
	}
}

// expireSelf ends a send to oneself that nobody received. There is no peer to
// disconnect.
func (e *Engine) expireSelf(slot int32, r *request) {
	if r.state == stateQueued {
		e.reqs.remove(&e.peers[0].queue, r)
	}
	h := uint64(handleOf(slot, r.generation))
	for id, ok := e.unexp.First(); ok; id, ok = e.unexp.Next(id) {
		if m := e.unexp.At(id); storedKind(m.Kind) == storedSelf && m.ID == h {
			e.unexp.Remove(id)
			break
		}
	}
	r.xferLen = 0
	e.complete(slot, r, TimedOut)
}
