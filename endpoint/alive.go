package endpoint

import "gomx/transport/wire"

// No medium reports that a peer is stopped, and a lossy medium does not even report that
// it has vanished. So the engine looks now and then at each peer that requests wait for:
// four times in a request timeout, and over lossy media at least every two seconds.
// A peer that has sent nothing since the last look is asked for an Ack, which a living
// endpoint sends whatever its program does. When it has been silent for the request
// timeout, the session ends: requests complete with TimedOut, and the peer gets a
// disconnect (XII.1.2). The looks are counted, not the time, because this process may
// have been stopped itself. Nothing is sent on a link that nobody waits for.
//
// A peer that is given up is not asked, and nothing more is sent to it. Only what it had sent
// before is awaited. The session ends after two looks in a row that have seen nothing arrive,
// or after a bound, if the peer goes on all the same.
const (
	askAliveEvery Tick = 2000 // over lossy media at least
	looks         Tick = 4    // others, in a request timeout
	lastLookEvery Tick = 250  // at a peer that is given up
	lastLooks          = 20   // how many of them there are at most
)

// vigil is what is known of a peer that requests wait for.
type vigil struct {
	waiting int  // requests that wait for the peer's answer
	on      bool // looks are due
	fresh   bool // the next look is the first one
	moved   bool // the peer has given a sign of life since the last look
	givenUp bool // the session ends as soon as nothing arrives any more
	looked  int  // how often was looked at a peer that is given up
	mark    mark // what had come at the last look
	silent  Tick // how long no look has seen a sign of life
	lookAt  Tick
}

// expectAnswer notes that a request waits for its peer.
func (e *Engine) expectAnswer(p *peer, r *request) {
	if e.local(p) || r.flags&expecting != 0 {
		return
	}
	r.flags |= expecting
	p.vigil.waiting++
	e.keepVigil(p)
}

// expectSession notes that a request waits for its peer to say something some day, or
// for the end of the session, which only a lossy medium does not tell.
func (e *Engine) expectSession(p *peer, r *request) {
	if p.rel != nil {
		e.expectAnswer(p, r)
	}
}

// answered notes that such a request has ended.
func (p *peer) answered() {
	if p.vigil.waiting > 0 {
		p.vigil.waiting--
	}
}

// awaits reports whether something depends on the peer that only its life brings.
func (p *peer) awaits() bool {
	return p.vigil.waiting > 0 || p.queue.head != none || p.rel != nil && p.rel.early.count > 0
}

// keepVigil is called when something begins to wait for the peer. It reads no clock:
// the first look only begins to measure.
func (e *Engine) keepVigil(p *peer) {
	if v := &p.vigil; !v.on && !v.givenUp {
		v.on, v.fresh, v.lookAt = true, true, e.now+e.lookEvery(p)
		e.watchPeer(p)
	}
}

// lookEvery is the time between two looks.
func (e *Engine) lookEvery(p *peer) Tick {
	every := max(1, e.cfg.RequestTimeout/looks)
	switch {
	case p.vigil.givenUp:
		every = min(every, lastLookEvery)
	case p.rel != nil:
		every = min(every, askAliveEvery)
	}
	return every
}

// patience is how long a peer may be silent.
func (e *Engine) patience(p *peer) Tick {
	if p.vigil.givenUp {
		return min(2*lastLookEvery, e.cfg.RequestTimeout)
	}
	return e.cfg.RequestTimeout
}

// lookDue returns when the next look is due. When nothing waits any more there is none.
func (p *peer) lookDue() Tick {
	if p.vigil.on = p.vigil.on && p.awaits(); p.vigil.on || p.vigil.givenUp {
		return p.vigil.lookAt
	}
	return Never
}

// look asks a silent peer for a sign of life, or gives it up.
func (e *Engine) look(p *peer) {
	v, every := &p.vigil, e.lookEvery(p)
	if v.fresh || v.moved && !v.givenUp || v.mark != p.mark() {
		v.silent = 0
	} else {
		v.silent += every
	}
	if v.givenUp {
		v.looked++
	}
	first := v.fresh
	v.fresh, v.moved, v.mark, v.lookAt = false, false, p.mark(), later(e.now, every)
	switch {
	case e.ourselves(p):
	case v.silent >= e.patience(p), v.givenUp && v.looked > lastLooks:
		e.abandonPeer(p)
	case !first && !v.givenUp:
		e.control(p, wire.Header{Kind: wire.Ack, Match: ackPlease})
	}
}

// abandonPeer ends the session with a peer that does not move.
func (e *Engine) abandonPeer(p *peer) {
	e.count.Timeouts++
	e.bye(p)
	p.nacked = p.local // the goodbye says as much
	e.failPeer(p, TimedOut, false)
	if p.link == nil && e.awaited(p) {
		e.dial(p)
	}
}

// GiveUp ends the session with a peer that is known from elsewhere not to move, as if it
// had been silent for the request timeout: requests complete with TimedOut, and whole
// messages stay receivable. What the peer had sent before still arrives. Of a session that
// is over, and of our own, nothing ends.
func (e *Engine) GiveUp(a Addr) error {
	if !e.known(a) {
		return ErrBadAddress
	}
	p := e.peers[a.Peer]
	v := &p.vigil
	if e.ourselves(p) || p.index == 0 || p.state != peerConnected || p.remote != a.Session || v.givenUp {
		return nil
	}
	v.givenUp, v.fresh, v.silent, v.looked = true, true, 0, 0
	v.lookAt = later(e.clock(), e.lookEvery(p))
	p.refresh(e.cfg.EagerLimit)
	e.watchPeer(p)
	return nil
}

// arriveAsked takes an Ack of a medium that needs none: a question, or the answer.
func (e *Engine) arriveAsked(p *peer, h *wire.Header) {
	e.alive(p)
	if h.Match == ackPlease {
		e.control(p, wire.Header{Kind: wire.Ack})
	}
}
