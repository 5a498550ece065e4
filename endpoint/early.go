package endpoint

import "gomx/transport/wire"

// holdEarly keeps a frame that came before its turn.
func (e *Engine) holdEarly(p *peer, h *wire.Header, payload []byte, ahead int32) {
	if ahead >= window || len(payload) > p.caps.MaxFrame {
		e.count.TooEarly++
		return
	}
	k := &p.rel.early[h.Seq%window]
	if k.used {
		e.count.Duplicates++
		return
	}
	v := wire.Vec{First: payload}
	head := *h
	head.Length = uint32(len(payload))
	k.set(&head, &v, 0)
	p.rel.earlyHeld++
	e.count.Early++
}

// takeEarly takes all held frames whose turn has come.
func (e *Engine) takeEarly(p *peer) {
	r := p.rel
	for r.earlyHeld > 0 {
		k := &r.early[p.recvSeq%window]
		if !k.used || !e.take(p, &k.h, k.data) {
			return
		}
	}
}

// ackSoon acknowledges with the next frame, at the latest after ackDelay.
func (e *Engine) ackSoon(p *peer) {
	r := p.rel
	if r == nil || p.state != peerConnected {
		return
	}
	if r.unacked >= ackAtOnce {
		e.ackNow(p)
		return
	}
	if !r.ackDue {
		r.ackDue, r.ackAt = true, e.now+ackDelay
		e.watchTimers(p)
	}
}

func (e *Engine) ackNow(p *peer) {
	if p.rel == nil || p.state != peerConnected {
		return
	}
	e.header = wire.Header{Kind: wire.Ack}
	e.post(p, &e.header, nil, 0)
}
