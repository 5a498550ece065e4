package endpoint

import "gomx/transport/wire"

// Reliability over media that lose, duplicate or reorder. Sequenced frames are
// numbered per session and kept until the peer acknowledges them; the receiver
// takes them in order, and holds early ones for a while. Acknowledgements are
// cumulative and ride on every frame.
//
//	sent:     | acknowledged | unacked: kept, sent again when due | free |
//	                         base                             sendSeq  base+window
//	received: | taken        | early: held, or missing            |
//	                         recvSeq                     recvSeq+window
const (
	window      = 256     // frames that may be unacknowledged, a power of two
	windowBytes = 1 << 20 // bytes of them, beyond the first
)

type reliability struct {
	base  uint32 // oldest unacknowledged sequence number
	next  uint32 // next one to be sent
	kept  [window]keptFrame
	bytes int
	stuck bool // the last frame found the window full

	early     [window]keptFrame
	earlyHeld int

	ackDue  bool
	ackAt   Tick
	unacked int // frames taken since the last ack

	quickly uint32 // base that was sent again early, once
	tries   int
	due     Tick // when base is sent again
	since   Tick // when base became the oldest
}

// keptFrame is a frame that is kept for sending again, or for its turn.
type keptFrame struct {
	used bool
	h    wire.Header
	data []byte // reused
}

func (k *keptFrame) set(h *wire.Header, v *wire.Vec, off int) {
	k.used, k.h = true, *h
	if cap(k.data) < int(h.Length) {
		k.data = make([]byte, h.Length)
	}
	k.data = k.data[:h.Length]
	if h.Length > 0 {
		v.Gather(k.data, off)
	}
}

func newReliability() *reliability { return new(reliability) }

func (r *reliability) reset(first uint32) {
	r.clear()
	r.base, r.next = first, first
}

// clear drops all frames; their memory stays.
func (r *reliability) clear() {
	for i := range r.kept {
		r.kept[i].used = false
		r.early[i].used = false
	}
	r.bytes, r.earlyHeld, r.unacked, r.tries = 0, 0, 0, 0
	r.ackDue, r.stuck = false, false
	r.base = r.next
}

func (r *reliability) outstanding() int { return int(r.next - r.base) }

// full reports whether a frame with n bytes of payload must wait for acks.
func (r *reliability) full(n int) bool {
	out := r.outstanding()
	return out >= window || out > 0 && r.bytes+n > windowBytes
}

// nextDue returns when something must be done, while seq is the next sequence
// number expected.
func (r *reliability) nextDue(seq uint32, now Tick) Tick {
	due := Never
	if r.ackDue {
		due = r.ackAt
	}
	if r.outstanding() > 0 {
		due = min(due, r.due)
	}
	if r.earlyHeld > 0 && r.early[seq%window].used {
		due = min(due, now+ackDelay) // there was no room for it
	}
	return due
}

// Unacknowledged returns how many frames peers have not acknowledged. An owner
// that closes waits, within a bound, until there are none.
func (e *Engine) Unacknowledged() int {
	kept, _ := e.held()
	return kept
}

func (e *Engine) held() (kept, early int) {
	for _, p := range e.peers {
		if p.rel != nil {
			kept += p.rel.outstanding()
			early += p.rel.earlyHeld
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
		return sent || h.Kind != wire.PullData // others are sent again when missed
	}
	if r.stuck = r.full(int(h.Length)); r.stuck {
		return false
	}
	h.Seq = p.sendSeq
	if !p.link.Send(h, v, off) {
		return false
	}
	r.acked()
	k := &r.kept[h.Seq%window]
	k.set(h, v, off)
	r.bytes += int(h.Length)
	if r.outstanding() == 0 {
		r.since, r.due, r.tries = e.now, e.now+resendFirst, 0
	}
	p.sendSeq++
	r.next = p.sendSeq
	e.watchTimers(p)
	return true
}

// acked notes that a frame with our ack has left.
func (r *reliability) acked() { r.unacked, r.ackDue = 0, false }

// arriveUnreliable takes any frame of an unreliable medium.
func (e *Engine) arriveUnreliable(p *peer, h *wire.Header, payload []byte) bool {
	head := *h
	if head.Flags&wire.HasAck != 0 {
		e.arriveAck(p, head.Ack, head.Kind == wire.Ack)
	}
	if head.Kind == wire.Ack {
		return true
	}
	if !head.Kind.Sequenced() {
		e.arriveControl(p, &head, payload)
		return true
	}
	switch ahead := int32(head.Seq - p.recvSeq); {
	case ahead < 0:
		e.count.Duplicates++
		e.ackNow(p)
	case ahead == 0:
		if e.take(p, &head, payload) {
			e.takeEarly(p)
			e.ackSoon(p)
		} else {
			e.ackNow(p) // no room: we are alive, but it must come again
		}
	default:
		e.holdEarly(p, &head, payload, ahead)
		if p.rel.earlyHeld%ackEarly == 1 {
			e.ackNow(p) // so that the missing one is sent again soon
		}
	}
	return true
}

// take accepts the frame whose turn it is. If there is no room for it, it is as
// if it had been lost: the peer sends it again.
func (e *Engine) take(p *peer, h *wire.Header, payload []byte) bool {
	session := p.local
	if !e.accept(p, h, payload) {
		return false
	}
	if p.local != session {
		return false
	}
	if k := &p.rel.early[p.recvSeq%window]; k.used { // this one, refused before or taken from there
		k.used = false
		p.rel.earlyHeld--
	}
	p.recvSeq++
	p.rel.unacked++
	return true
}

// advanceReliability does what is due.
func (e *Engine) advanceReliability(p *peer) {
	r := p.rel
	if r.earlyHeld > 0 && r.early[p.recvSeq%window].used {
		e.takeEarly(p)
		if p.rel != r || p.state != peerConnected {
			return
		}
		e.ackSoon(p)
	}
	if r.ackDue && e.now >= r.ackAt {
		e.ackNow(p)
	}
	if r.outstanding() == 0 || e.now < r.due {
		return
	}
	if e.now-r.since >= e.cfg.RequestTimeout {
		e.count.Timeouts++
		e.failPeer(p, TimedOut, false)
		return
	}
	e.resend(p)
}
