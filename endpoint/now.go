package endpoint

import "gomx/transport/wire"

// SendNow sends a small message if that takes no time: when it returns true, the
// message has left, or is kept by the link, and b is free. There is no request.
// False: nothing was sent, and Send says why or waits.
func (e *Engine) SendNow(b []byte, to Addr, match uint64) bool {
	if e.recorder != nil {
		e.recorder.begin()
	}
	p := e.launch(b, to, match)
	if p == nil {
		if p = e.postNow(b, to, match); p == nil {
			return false
		}
	}
	e.classes.over(p.medium, match).send(len(b))
	if e.recorder != nil {
		e.recorder.sent(EventSent, p, match, len(b), 0, false)
	}
	return true
}

// launch sends a message by the fast path, and returns whom to. nil: it did not go.
func (e *Engine) launch(b []byte, to Addr, match uint64) *peer {
	if uint(to.Peer) >= uint(len(e.peers)) {
		return nil
	}
	p := e.peers[to.Peer]
	room := p.credit.bytes - wire.Cost(len(b))
	if len(b) > p.fast || room < 0 || to.Session != p.remote {
		return nil
	}
	h := &e.header
	h.Kind, h.Flags, h.Length, h.Match = wire.Eager, 0, uint32(len(b)), match
	h.Seq, h.Session = p.sendSeq, to.Session
	e.one.First = b
	if !p.link.Send(h, &e.one, 0) {
		return nil
	}
	p.sendSeq++
	p.credit.bytes = room
	return p
}

// postNow sends a message over media that keep what they send.
func (e *Engine) postNow(b []byte, to Addr, match uint64) *peer {
	if !e.known(to) {
		return nil
	}
	p := e.peers[to.Peer]
	if p.log == nil || p.state != peerConnected || to.Session != p.remote || p.link == nil || p.vigil.givenUp || p.mute() ||
		p.queue.head != none || p.waiting.head != none || p.greetings.len() > 0 || len(b) > p.eagerLimit(e.cfg.EagerLimit) || wire.Cost(len(b)) > p.credit.bytes {
		return nil
	}
	e.header = wire.Header{Kind: wire.Eager, Length: uint32(len(b)), Match: match}
	e.one.First = b
	if !e.post(p, &e.header, &e.one, 0) {
		return nil
	}
	p.credit.bytes -= wire.Cost(len(b))
	return p
}
