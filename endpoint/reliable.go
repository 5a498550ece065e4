package endpoint

import "gomx/transport/wire"

// Reliability over media that lose, duplicate or reorder. Sequenced frames are
// numbered per session and kept until the peer acknowledges them; the receiver
// takes them in order, and holds early ones for a while. Acknowledgements are
// cumulative and ride on every frame.
//
//	sent:     | acknowledged | unacked: kept, retransmitted when due | free |
//	                         base                             sendSeq  base+window
//	received: | taken        | early: held, or missing            |
//	                         recvSeq                     recvSeq+window
const (
	window      = 256     // frames that may be unacknowledged, a power of two
	windowBytes = 1 << 20 // bytes of them, beyond the first
)

type reliability struct {
	early frameRing

	ackDue  bool
	ackAt   Tick
	unacked int // frames taken since the last ack

	quickly uint32 // base that was retransmitted early, once
	tries   int
	due     Tick // when base is retransmitted
	since   Tick // when base became the oldest
}

func (r *reliability) reset(pool *framePool) {
	r.early.clear(pool)
	*r = reliability{early: r.early}
}

// reliabilityDue returns when advanceReliability has something to do.
func (e *Engine) reliabilityDue(p *peer) Tick {
	r, due := p.rel, Never
	if r.ackDue {
		due = r.ackAt
	}
	if p.log.outstanding() > 0 {
		due = min(due, r.due)
	}
	if r.early.has(p.recvSeq) {
		due = e.now // progression was disabled before their turn
	}
	return due
}

// Undelivered returns the number of frames that may not have reached their peers: those that
// are not acknowledged, and answers that wait for room in a link. An owner that closes
// goes on, within a bound, until there are none: even what a reliable link has taken is lost if that breaks now.
func (e *Engine) Undelivered() (frames int) {
	for _, p := range e.peers {
		if p.log == nil {
			continue
		}
		frames += p.log.outstanding()
	}
	for _, i := range e.backlog {
		if p := e.peers[i]; p.link != nil {
			frames += p.control.len()
		}
	}
	return frames
}

func (e *Engine) held() (kept, early int) {
	for _, p := range e.peers {
		if p.log != nil {
			kept += p.log.outstanding()
		}
		if p.rel != nil {
			early += p.rel.early.count
		}
	}
	return kept, early
}

// postUnreliable is post for media that need this layer.
func (e *Engine) postUnreliable(p *peer, h *wire.Header, v *wire.Vec, off int) bool {
	r := p.rel
	h.Session = p.remote
	h.Flags |= wire.HasAck
	h.Ack = p.recvSeq
	if !h.Kind.Sequenced() {
		sent := p.link.Send(h, v, off)
		if sent {
			r.acked()
		}
		return sent || h.Kind != wire.PullData // others are retransmitted when missed
	}
	if p.log.stuck = p.log.full(int(h.Length), window, windowBytes); p.log.stuck {
		return false
	}
	h.Seq = p.sendSeq
	if !p.link.Send(h, v, off) {
		return false
	}
	r.acked()
	if p.log.outstanding() == 0 {
		r.since, r.tries = e.clock(), 0
		r.due = r.since + retransmitFirst
	}
	p.log.keep(&e.frames, h, v, off)
	p.sendSeq++
	e.watchPeer(p)
	return true
}

// acked notes that a frame with our ack has left.
func (r *reliability) acked() { r.unacked, r.ackDue = 0, false }

// arriveUnreliable takes any frame of an unreliable medium.
func (e *Engine) arriveUnreliable(p *peer, h *wire.Header, payload []byte) {
	head := *h
	p.vigil.moved = true
	if head.Flags&wire.HasAck != 0 {
		e.arriveAck(p, head.Ack, head.Kind == wire.Ack)
	}
	if head.Kind == wire.Ack {
		if head.Match == ackPlease {
			e.ackNow(p)
		}
		return
	}
	if !head.Kind.Sequenced() {
		e.arriveControl(p, &head, payload)
		return
	}
	switch ahead := int32(head.Seq - p.recvSeq); {
	case ahead < 0:
		e.count.Duplicates++
		e.ackNow(p)
	case ahead == 0:
		if e.take(p, &head, payload) {
			e.takeEarly(p)
			e.ackSoon(p)
		}
	default:
		e.holdEarly(p, &head, payload, ahead)
		if p.rel.early.count%ackEarly == 1 {
			e.ackNow(p) // so that the missing one is retransmitted soon
		}
	}
}

// take accepts the frame whose turn it is, and reports whether the session goes on.
func (e *Engine) take(p *peer, h *wire.Header, payload []byte) bool {
	session := p.local
	e.accept(p, h, payload)
	if p.local != session {
		return false
	}
	if p.rel.early.has(p.recvSeq) { // this one
		p.rel.early.drop(&e.frames, p.recvSeq)
	}
	p.recvSeq++
	p.rel.unacked++
	return true
}

// advanceReliability does what is due.
func (e *Engine) advanceReliability(p *peer) {
	r := p.rel
	if r.early.has(p.recvSeq) {
		e.takeEarly(p)
		if p.rel != r || p.state != peerConnected {
			return
		}
		e.ackSoon(p)
	}
	if r.ackDue && e.now >= r.ackAt {
		e.ackNow(p)
	}
	if p.log.outstanding() == 0 || e.now < r.due {
		return
	}
	if e.now-r.since >= e.cfg.RequestTimeout {
		e.count.Timeouts++
		e.failPeer(p, TimedOut, false)
		return
	}
	e.retransmitDue(p)
}
