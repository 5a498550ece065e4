package endpoint

import "gomx/transport/wire"

// startRendezvous fetches the bytes of a large message that has matched.
func (e *Engine) startRendezvous(p *peer, slot int32, r *request, from uint64, total uint32, desc []byte) {
	if code, over := e.over(p, r.session); over {
		e.fail(slot, r, code)
		return
	}
	r.remote, r.state = from, statePulling
	r.xferLen = uint32(min(uint64(total), uint64(r.vec.Len())))
	if r.xferLen == 0 {
		e.finishRendezvous(p, slot, r)
		return
	}
	if p.caps.Pull && len(desc) > 0 && !p.broken() {
		switch p.link.Pull(desc, &r.vec, int(r.xferLen), uint64(handleOf(slot, r.generation))) {
		case wire.PullDone:
			p.medium.GetRendezvous++
			e.finishRendezvous(p, slot, r)
			return
		case wire.PullStarted:
			p.medium.GetRendezvous++
			return
		case wire.PullFailed:
			e.count.PullFallbacks++
			e.note(FellBack, p, Success)
		}
	}
	e.pullPipelined(p, slot, r)
}

// PullFinished reports the end of a pull that a link answered with PullStarted.
func (e *Engine) PullFinished(id uint64, ok bool) {
	slot, r := e.reqs.find(Handle(id))
	if r == nil || r.state != statePulling || r.pull != none {
		e.count.Stale++
		return
	}
	if r.flags&failing != 0 {
		e.complete(slot, r, r.code)
		return
	}
	p := e.peers[r.peer]
	if ok {
		e.finishRendezvous(p, slot, r)
		return
	}
	e.count.PullFallbacks++
	e.note(FellBack, p, Success)
	e.pullPipelined(p, slot, r)
}

// failPull ends a receive whose bytes will not come. While the link may still
// write to its memory, the receive stays pending: until PullFinished, or until
// the link is gone.
func (e *Engine) failPull(slot int32, r *request, code Code) {
	r.xferLen = 0
	switch {
	case r.pull != none:
		e.endPull(r)
		e.complete(slot, r, code)
	case r.flags&failing == 0:
		r.code = code
		r.flags |= failing
		s, stops := e.peers[r.peer].link.(wire.PullStopper)
		ended := stops && s.StopPull(uint64(handleOf(slot, r.generation)))
		if r.flags&counted != 0 {
			e.discount(slot, r) // the peer has heard, or its session is over
		}
		if ended {
			e.complete(slot, r, code)
		}
	}
}

// failPulls ends the receives that waited for a link which is gone.
func (e *Engine) failPulls(p *peer) {
	e.eachRequest(func(slot int32, r *request) {
		if r.state == statePulling && r.peer == p.index && r.flags&failing != 0 {
			e.complete(slot, r, r.code)
		}
	})
}

// finishRendezvous tells the sender that its bytes were taken, and completes
// the receive.
func (e *Engine) finishRendezvous(p *peer, slot int32, r *request) {
	code := Success
	if r.xferLen < r.msgLen {
		code = Truncated
	}
	p.medium.BytesReceived += uint64(r.xferLen)
	if r.receives() {
		e.classes.of(r.match).receive(int(r.xferLen))
		if e.recorder != nil {
			e.recorder.request(EventPulled, p, slot, r)
		}
	}
	if r.kind == kindPutIn {
		e.answer(p, r.remote, r.xferLen, dispositionOf(code))
	} else {
		e.notify(p, r.remote, r.xferLen, dispositionOf(code))
	}
	e.complete(slot, r, code)
}
