package endpoint

import "gomx/transport/wire"

// Back-pressure. When the unexpected store is full, Frame refuses a message and
// the link keeps it: the sender's link fills up, and its messages wait in order.
// The Throttle frame tells the sender to use rendezvous meanwhile, so that the
// messages that wait cost the receiver a header each when there is room again.

// maxControl bounds the frames that wait for the link to a peer who does not
// read what we send. Until it does, its messages are not taken.
const maxControl = 1 << 16

func (e *Engine) throttle(p *peer) {
	e.count.Refused++
	if !p.throttles && p.index != 0 {
		p.throttles = true
		e.holdsBack++
		e.count.Throttles++
		e.control(p, wire.Header{Kind: wire.Throttle, Match: 1})
	}
}

// unthrottle lets peers send eagerly again once half of the store is free.
func (e *Engine) unthrottle() {
	if e.holdsBack == 0 {
		return
	}
	if s := e.unexp.Stats(); s.Bytes > s.Limit/2 {
		return
	}
	for _, p := range e.peers[1:] {
		if p.throttles {
			p.throttles = false
			e.holdsBack--
			e.count.Unthrottles++
			e.control(p, wire.Header{Kind: wire.Throttle, Match: 0})
		}
	}
}

func (e *Engine) arriveThrottle(p *peer, h *wire.Header) {
	p.throttled = h.Match != 0
	p.refresh(e.cfg.EagerLimit)
}
