package endpoint

import (
	"gomx/transport/wire"
	"gomx/unexpected"
)

// Healing over media that are ordered and reliable, but whose links may break for
// transient reasons. Sequenced frames are kept until the peer acknowledges them.
// Acknowledgements are rare, since only a break loses frames. A peer without link
// stays connected: its sends wait. Both sides dial, the one with the larger
// address a little later. Over a new link each side sends a Resume frame with the
// number of the next frame that it expects, and retransmits what the other side has
// not received.
//
// The session ends all the same if nobody is open at the other side any more, if
// the peer has become another incarnation, or if there is no link for the request
// timeout.
const (
	healFrames = 1024    // frames that may be unacknowledged
	healBytes  = 1 << 20 // bytes of them, beyond the first

	ackFrames      = 256       // frames taken after which an ack is sent
	ackBytes       = 256 << 10 // likewise bytes
	ackRide        = 16        // frames taken after which an ack rides on what goes out anyway
	ackIdle   Tick = 100       // time after which the last frames are acknowledged

	redialLater Tick = 100 // head start of the smaller address
)

const ackPlease = 1 // Match of an Ack frame that wants one back

type healing struct {
	resuming bool   // over this link the peer has not said yet what it has received
	cursor   uint32 // next frame of the log to be sent over this link
	sent     int    // bytes of it that have been, if it goes in pieces
	pieces   []byte // that have come of the next message
	turn     uint64 // when the first of them did

	since Tick // when the link broke

	acked  uint32 // everything before this has been acknowledged to the peer
	bytes  int    // that were taken since
	ackDue bool
	ackAt  Tick
}

// broken reports whether the peer's session goes on without a link.
func (p *peer) broken() bool {
	return p.heal != nil && p.link == nil && p.state == peerConnected
}

// mute reports whether nothing but greetings may be sent, because a link is
// missing or the peer has not said what it has received.
func (p *peer) mute() bool {
	return p.heal != nil && (p.link == nil || p.heal.resuming) && p.state == peerConnected
}

// breakLink is the end of a link, but not of the session.
func (e *Engine) breakLink(p *peer) {
	e.unhook(p)
	e.count.Breaks++
	e.note(Broken, p, Success)
	h := p.heal
	h.since, p.redials = e.clock(), 0
	if e.succeed(p) {
		return
	}
	if !e.peers[0].at.less(p.at) {
		p.redialAt = h.since + redialLater
	} else {
		e.dial(p)
	}
	e.watchPeer(p)
}

// dropLink gives up a link, but not the session.
func (e *Engine) dropLink(p *peer) {
	link := p.link
	e.breakLink(p)
	e.host.Drop(p.index, link, false)
}

// unhook takes the link from a connected peer. Operations that depended on this link
// are restarted over the next one.
func (e *Engine) unhook(p *peer) {
	p.link, p.nacked, p.pushing, p.linkAsked = nil, 0, 0, false
	p.heal.resuming, p.heal.ackDue = false, false
	e.dropPieces(p)
	e.endVisit(p)
	p.greetings.clear()
	p.jobs.clear()
	p.control.keep(func(h *wire.Header) bool { return h.Kind != wire.PullRequest })
	p.refresh(-1)
	e.eachRequest(func(slot int32, r *request) {
		if r.peer != p.index {
			return
		}
		r.flags &^= exported // the link frees that when it closes
		switch {
		case r.state != statePulling || r.pull != none:
		case r.flags&failing != 0:
			e.complete(slot, r, r.code)
		default:
			e.pullPipelined(p, slot, r) // instead of the link, from the next Resume on
		}
	})
	e.unexp.Each(func(_ int32, m *unexpected.Message) {
		if m.Peer == p.index && storedKind(m.Kind) == storedRemote {
			m.Flags |= descLost
		}
	})
}

// relink gives a connected peer another link. If its present link still works here,
// the new link shows that the peer has lost it. If both have dialled at once, the link
// that the smaller address has dialled is used.
func (e *Engine) relink(p *peer, l wire.Link, dialled bool) {
	smaller := e.peers[0].at.less(p.at)
	if old := p.link; old != nil {
		if p.heal.resuming && p.outranks(smaller, dialled) || !p.heal.resuming && dialled {
			e.host.Drop(p.index, l, false)
			return
		}
		e.unhook(p)
		e.host.Drop(p.index, old, false)
	}
	if !l.Caps().Heals {
		e.failPeer(p, BadSession, false)
		e.attach(p, l, dialled)
		e.askAll(p)
		return
	}
	p.link, p.linkDialled = l, dialled
	p.caps = l.Caps()
	p.medium = e.mediumNamed(p.caps.Name)
	p.heal.resuming = true
	e.greet(p, greeting{wire.Header{
		Kind: wire.Resume, Flags: wire.HasAck, Session: p.remote, Ack: p.recvSeq, Length: wire.TokenSize,
	}, wire.ConnectInfo{Token: p.shown}, nil})
	p.heal.acked, p.heal.bytes = p.recvSeq, 0
	e.watchPeer(p)
}

// arriveResume: the peer says over a new link what it has received.
func (e *Engine) arriveResume(p *peer, h *wire.Header, payload []byte) {
	switch {
	case p.state == peerDialing && h.Session == p.local:
		// The reply that makes us connected was lost. Our Connect brings another.
	case p.state != peerConnected || h.Session != p.local || p.heal == nil:
		e.refuse(p, h)
	case p.link == nil:
		// It came just before the end of its link, which has been given up since.
	case !p.proves(payload) && !e.ourselves(p):
		// Whoever answers where the peer was is not the peer, or a new incarnation of
		// it, which would have said that the session is over.
		e.count.BadProofs++
		e.dropLink(p)
	case !p.heal.resuming || h.Flags&wire.HasAck == 0:
		e.corrupt(p)
	case int32(h.Ack-p.log.base) < 0:
		// The peer has said more than that already: this link came up at its side
		// long ago, and is of no use there any more.
		e.dropLink(p)
	default:
		e.resumeFrom(p, h.Ack)
	}
}

// resumeFrom goes on with the session. The peer has received all before ack.
func (e *Engine) resumeFrom(p *peer, ack uint32) {
	if !p.log.acknowledge(&e.frames, ack) {
		e.corrupt(p)
		return
	}
	e.count.Resumed++
	e.note(Resumed, p, Success)
	p.heal.resuming, p.heal.cursor, p.heal.sent = false, p.log.base, 0
	e.restartPulls(p)
	if p.asking || e.awaited(p) {
		e.askAll(p)
	}
	e.wait(p)
}

// restartPulls requests the incomplete blocks again. If this link needs another frame size
// than the last one, their bytes are requested in new blocks.
func (e *Engine) restartPulls(p *peer) {
	frame := p.pullFrame()
	e.eachRequest(func(_ int32, r *request) {
		if r.state != statePulling || r.peer != p.index {
			return
		}
		pl := e.pulls.items[r.pull]
		if pl.frame != frame {
			pl.rewind(frame)
			e.askBlocks(p, r, pl)
			return
		}
		for i := range pl.blocks {
			if b := &pl.blocks[i]; b.len != 0 {
				e.askBlock(p, r, pl, b)
			}
		}
	})
}

// flushHealing retransmits what the peer has not received, and reports whether
// all of it went.
func (e *Engine) flushHealing(p *peer) bool {
	if p.mute() {
		return false
	}
	for h := p.heal; h.cursor != p.log.next; h.cursor++ {
		k := p.log.kept.at(h.cursor)
		if e.out = (wire.Vec{First: k.data}); int(k.h.Length) > p.caps.MaxFrame {
			if !e.sendPieces(p, &k.h) {
				return false
			}
		} else if !p.link.Send(&k.h, &e.out, 0) {
			return false
		}
		e.count.Retransmitted++
	}
	return true
}

// postHealing is post for media that heal.
func (e *Engine) postHealing(p *peer, h *wire.Header, v *wire.Vec, off int) bool {
	if p.mute() {
		return false
	}
	h.Session = p.remote
	if !h.Kind.Sequenced() {
		return p.link.Send(h, v, off)
	}
	if p.heal.cursor != p.log.next {
		return false
	}
	if p.log.stuck = p.log.full(int(h.Length), healFrames, healBytes); p.log.stuck {
		return false
	}
	h.Seq = p.sendSeq
	rides := p.recvSeq-p.heal.acked >= ackRide
	if rides {
		h.Flags |= wire.HasAck
		h.Ack = p.recvSeq
	}
	if !p.link.Send(h, v, off) {
		return false
	}
	if rides {
		h.Flags &^= wire.HasAck // of no use when it is retransmitted
		p.heal.acked, p.heal.bytes = p.recvSeq, 0
	}
	if h.Kind.Offers() {
		h.Length, v.First = 0, nil // a memory descriptor is valid on one link only; over another one the rendezvous is pipelined
	}
	p.log.keep(&e.frames, h, v, off)
	p.sendSeq++
	p.heal.cursor = p.log.next
	return true
}

// arriveHealing takes what a frame says about acknowledgements, and reports
// whether there is more to it.
func (e *Engine) arriveHealing(p *peer, h *wire.Header) bool {
	if p.heal.resuming {
		e.corrupt(p) // it must say first what it has received
		return false
	}
	if h.Flags&wire.HasAck != 0 && !p.unsent(h.Ack) && p.log.acknowledge(&e.frames, h.Ack) {
		if p.hasQueued() {
			e.wait(p)
		}
	}
	if h.Kind != wire.Ack {
		return true
	}
	e.alive(p)
	if h.Match == ackPlease {
		e.ackHealing(p)
	}
	return false
}

// unsent reports whether an acknowledgement is about frames that were not sent, or sent again, over the present link. The peer can't have
// received them.
func (p *peer) unsent(ack uint32) bool { return int32(p.heal.cursor-ack) < 0 }

// scheduleAck notes that a frame of n bytes was taken, which has to be acknowledged.
func (e *Engine) scheduleAck(p *peer, n int) {
	h := p.heal
	h.bytes += n
	switch {
	case p.recvSeq-h.acked >= ackFrames || h.bytes >= ackBytes:
		e.ackHealing(p)
	case !h.ackDue:
		h.ackDue, h.ackAt = true, e.clock()+ackIdle
		e.watchPeer(p)
	}
}

func (e *Engine) ackHealing(p *peer) {
	h := p.heal
	if !e.sendAck(p, 0) {
		h.ackDue, h.ackAt = true, e.now+1
		e.watchPeer(p)
		return
	}
	h.acked, h.bytes = p.recvSeq, 0
}

func (e *Engine) sendAck(p *peer, what uint64) bool {
	if p.mute() || p.greetings.len() > 0 {
		return false
	}
	e.header = wire.Header{Kind: wire.Ack, Flags: wire.HasAck, Match: what, Ack: p.recvSeq}
	return e.post(p, &e.header, nil, 0)
}

// AskAcks asks peers to acknowledge at once, if their links take frames. An owner that
// closes calls it before it waits until nothing is Undelivered.
func (e *Engine) AskAcks() {
	for _, p := range e.peers {
		if p.heal != nil && p.state == peerConnected && p.log.outstanding() > 0 {
			e.sendAck(p, ackPlease)
		}
	}
}

// healingDue returns when advanceHealing has something to do.
func (e *Engine) healingDue(p *peer) Tick {
	h := p.heal
	switch {
	case p.broken():
		return later(h.since, e.cfg.RequestTimeout)
	case h.ackDue:
		return h.ackAt
	}
	return Never
}

// advanceHealing does what is due.
func (e *Engine) advanceHealing(p *peer) {
	h := p.heal
	switch {
	case !p.broken():
		if h.ackDue && e.now >= h.ackAt {
			h.ackDue = false
			if p.recvSeq != h.acked {
				e.ackHealing(p)
			}
		}
	case e.now-h.since >= e.cfg.RequestTimeout:
		e.count.Timeouts++
		e.failPeer(p, TimedOut, false)
		if e.awaited(p) {
			e.dial(p)
		}
	}
}
