package endpoint

import "gomx/transport/wire"

// holdEarly keeps a frame that came before its turn.
func (e *Engine) holdEarly(p *peer, h *wire.Header, payload []byte, ahead int32) {
	if ahead >= window || len(payload) > p.caps.MaxFrame {
		e.count.TooEarly++
		return
	}
	if p.rel.early.has(h.Seq) {
		e.count.Duplicates++
		return
	}
	head := *h
	head.Length = uint32(len(payload))
	p.rel.early.put(&e.frames, int(ahead)+1, &head, &wire.Vec{First: payload}, 0)
	e.keepVigil(p)
	e.watchPeer(p)
	e.count.Early++
}

// takeEarly takes all held frames whose turn has come, or those before one whose
// handler disables progression: Advance takes the others.
func (e *Engine) takeEarly(p *peer) {
	for r := p.rel; r.early.has(p.recvSeq) && !e.paused; {
		k := r.early.at(p.recvSeq)
		head, data := k.h, k.data
		k.data = nil // ours meanwhile: the handler may end the session, which clears the ring
		over := !e.take(p, &head, data)
		e.frames.put(data)
		if over {
			return
		}
	}
	e.watchPeer(p)
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
		r.ackDue, r.ackAt = true, e.clock()+ackDelay
		e.watchPeer(p)
	}
}

func (e *Engine) ackNow(p *peer) {
	if p.rel == nil || p.state != peerConnected {
		return
	}
	e.header = wire.Header{Kind: wire.Ack}
	e.post(p, &e.header, nil, 0)
}
