package endpoint

import "gomx/transport/wire"

// A lossy medium says nothing of a peer that vanished. While something is
// unacknowledged, resending finds out. A send whose message was acknowledged, but
// which waits for the receiver, would wait for ever, and so would frames that are
// held for one before them. A peer that is silent meanwhile is asked for an ack now
// and then.
const askAliveEvery Tick = 2000

// expectAnswer notes that a request waits for its peer.
func (e *Engine) expectAnswer(p *peer, r *request) {
	if p.rel == nil {
		return
	}
	r.flags |= expecting
	e.beginWait(p)
	p.rel.expected++
	e.watchPeer(p)
}

// waits reports whether something depends on the peer that resending does not
// take care of.
func (r *reliability) waits() bool { return r.expected > 0 || r.early.count > 0 }

// beginWait is called before something more does.
func (e *Engine) beginWait(p *peer) {
	if !p.rel.waits() {
		p.rel.askAt = e.clock() + askAliveEvery
	}
}

// answered notes that such a request has ended.
func (p *peer) answered() {
	if p.rel != nil && p.rel.expected > 0 {
		p.rel.expected--
	}
}

// askAlive asks a silent peer for an ack, or gives it up.
func (e *Engine) askAlive(p *peer) {
	r := p.rel
	switch silent := e.now - r.heard; {
	case silent >= e.cfg.RequestTimeout:
		e.count.Timeouts++
		e.failPeer(p, TimedOut, false)
		return
	case silent >= askAliveEvery:
		e.header = wire.Header{Kind: wire.Ack, Match: ackPlease}
		e.post(p, &e.header, nil, 0)
	}
	r.askAt = min(e.now+askAliveEvery, later(r.heard, e.cfg.RequestTimeout))
}
