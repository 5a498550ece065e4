package endpoint

import (
	"encoding/binary"
	"math"
	"slices"

	"gomx/transport/wire"
)

// A peer that dials this endpoint claims an address. TCP without a secret proves nothing
// of that, and TCP with a secret proves that the peer knows the secret. So a link that
// was accepted belongs to a stranger at first. The stranger has a number of its own. The
// engine takes only frames from it that begin or resume a session, and they end no live
// session. The link becomes that of the peer whose address it claims
//
//   - by a Connect that knows the filter, if the peer has no link, or one without a
//     session;
//   - by a Resume that shows the token which this side gave to that peer when their
//     session began, and which nobody else has seen;
//   - by a Connect when the peer's link is dead. Until it is, the claim is held, and the
//     peer is asked for a sign of life: a link whose other end is gone breaks by that,
//     and an answer shows that the claim is false. If the session goes on without a link,
//     a Connect of another incarnation has to come twice: see challenges.
//
// If both sides have dialled, both must choose the same link, or both are lost. The side
// with the larger address goes over to the link of the other as soon as a Connect comes
// over it. So the side with the smaller address, once it has sent one, holds a claim even
// if its link has no session, and even if it has given that Connect up since.
//
// Links of media that lose frames are associations, which prove nothing and are
// simulated only: they are taken as they come.
//
// Strangers are bounded in number; the oldest goes first.

// LinkOwner returns the number that a new link to or from an address gets. A link that
// was dialled gets the number of the peer, and a link that was accepted that of a stranger.
func (e *Engine) LinkOwner(nic uint64, endpoint uint32, l wire.Link, dialled bool) int32 {
	at := address{nic, endpoint}
	switch caps := l.Caps(); {
	case at == e.peers[0].at && !dialled:
		return e.mirror
	case dialled || !caps.Reliable || !caps.Ordered:
		return e.PeerOf(nic, endpoint)
	}
	if len(e.strangers) >= e.cfg.Strangers {
		e.count.Strangers++
		e.turnAway(e.leastStranger())
	}
	s := e.newPeer(at)
	s.state = peerStranger
	e.strangers = append(e.strangers, s.index)
	return s.index
}

// leastStranger returns the oldest stranger of those who wait for nobody's answer, or else the oldest.
func (e *Engine) leastStranger() *peer {
	for _, i := range e.strangers {
		if s := e.peers[i]; s.visit == 0 {
			return s
		}
	}
	return e.peers[e.strangers[0]]
}

// MostStrangers returns how many strangers there may be at once.
func (e *Engine) MostStrangers() int { return e.cfg.Strangers }

// StrangersLeft counts strangers who had to make room before the engine heard of them.
func (e *Engine) StrangersLeft(n int) { e.count.Strangers += uint64(n) }

// LinkOf returns the number under which a link is known here, or -1.
func (e *Engine) LinkOf(l wire.Link, nic uint64, endpoint uint32) int32 {
	at := address{nic, endpoint}
	if i, ok := e.byAddr[at]; ok {
		if p := e.peers[i]; p.link == l || p.next == l {
			return i
		}
	}
	if p := e.peers[e.mirror]; e.mirror != 0 && p.link == l {
		return e.mirror
	}
	for _, i := range e.strangers {
		if e.peers[i].link == l {
			return i
		}
	}
	return -1
}

// newPeer returns a slot for a peer or a stranger. That of a stranger who has gone is
// used again: no address was ever made of it.
func (e *Engine) newPeer(at address) *peer {
	p := new(peer)
	if n := len(e.freePeers); n > 0 {
		p.index = e.freePeers[n-1]
		e.freePeers = e.freePeers[:n-1]
		p.inBacklog = e.peers[p.index].inBacklog
		e.peers[p.index] = p
	} else {
		p.index = int32(len(e.peers))
		e.peers = append(e.peers, p)
	}
	p.at, p.fast, p.eagerMax, p.watched, p.redialAt = at, -1, math.MaxInt32, Never, Never
	p.local, p.directed = e.number(), e.directed != nil
	p.queue.reset()
	p.waiting.reset()
	p.answers.reset()
	return p
}

// number returns a random number for a session.
func (e *Engine) number() uint32 {
	return max(1, uint32(e.host.Random()))
}

// unlist takes a stranger who is gone, or a peer now, off the list.
func (e *Engine) unlist(s *peer) {
	for n, i := range e.strangers {
		if i == s.index {
			e.strangers = append(e.strangers[:n], e.strangers[n+1:]...)
			return
		}
	}
}

// forgetStranger frees a stranger's slot. His link is gone, or another's.
func (e *Engine) forgetStranger(s *peer) {
	s.link = nil
	e.unlink(s)
	s.claimed = nil
	e.unlist(s)
	s.state, s.watched = peerFree, Never
	e.freePeers = append(e.freePeers, s.index)
}

// turnAway ends a stranger's link.
func (e *Engine) turnAway(s *peer) {
	link := s.link
	e.forgetStranger(s)
	if link != nil {
		e.host.Drop(s.index, link, false)
	}
}

// strangerFrame takes a frame of a stranger.
func (e *Engine) strangerFrame(s *peer, h *wire.Header, payload []byte) {
	switch h.Kind {
	case wire.Connect:
		e.claim(s, h, payload)
	case wire.Resume:
		e.claimSession(s, h, payload)
	case wire.Nack:
		e.takeBack(s, h)
	default:
		e.count.BadSession++
	}
}

// claim takes a stranger's Connect.
func (e *Engine) claim(s *peer, h *wire.Header, payload []byte) {
	if o := (offer{h: *h}); e.asks(s, payload, &o) {
		e.claimWith(s, &o)
	}
}

// claimWith takes a stranger's Connect that has the filter.
func (e *Engine) claimWith(s *peer, o *offer) {
	i, known := e.byAddr[s.at]
	if !known {
		if !e.admits(s, o) {
			return
		}
		e.byAddr[s.at] = s.index
		e.unlist(s)
		s.state = peerAbsent
		e.host.Adopted(s.index, s.link)
		e.admit(s, o)
		return
	}
	p := e.peers[i]
	switch {
	case p.state == peerConnected && p.ended(o.c.Session):
		e.replyOver(s, o, p.remote)
		return
	case p.mute() && e.challenges(p, s, o):
		return
	case p.link == nil || p.mute():
	case p.state == peerConnected:
		e.count.Claims++
		s.hold(o)
		p.probed = true // asked for a sign of life
		e.control(p, wire.Header{Kind: wire.Ack, Match: ackPlease})
		return
	case e.prevails(p) && (p.state == peerDialing || !s.repeats(o)):
		s.hold(o)
		return
	}
	e.takeOver(p, s, o)
}

// prevails reports whether a peer goes over to our link, if it has dialled as well.
func (e *Engine) prevails(p *peer) bool {
	return p.linkDialled && p.linkAsked && e.peers[0].at.less(p.at)
}

// hold keeps a stranger's Connect until the link of the peer whose address he claims is dead.
func (s *peer) hold(o *offer) {
	held := *o
	held.data = slices.Clone(o.data)
	if s.claimed != nil {
		held.attempts = s.claimed.attempts
	}
	if len(held.attempts) < heldAttempts {
		held.attempts = append(held.attempts, o.c.Attempt)
	}
	s.claimed, s.challenged = &held, false
}

// challenges reports whether a stranger has to ask again before a session without a link ends for its Connect, because
// that is of another incarnation. It may be a former one, which is dead, and has been heard late. The reply has a
// living one ask again at the next tick.
func (e *Engine) challenges(p, s *peer, o *offer) bool {
	if s.challenged || sameIncarnation(o.c.Session, p.remote) {
		return false
	}
	if s.claimed != o {
		s.hold(o)
	}
	s.challenged = true
	e.replyOver(s, o, o.c.Session)
	return true
}

// repeats reports whether a stranger retransmits a Connect that is held. If he is the peer,
// our own Connect would have reached him before that over a link that is alive.
func (s *peer) repeats(o *offer) bool {
	return s.claimed != nil && slices.Contains(s.claimed.attempts, o.c.Attempt)
}

// takeOver gives a stranger's link, which came with a Connect, to the peer whose
// address he claims. If the peer has a link, it is dead or without a session.
func (e *Engine) takeOver(p, s *peer, o *offer) {
	link, old := s.link, p.link
	e.forgetStranger(s)
	e.host.Adopted(p.index, link)
	switch {
	case p.mute() && o.c.Session == p.remote:
		if old != nil {
			e.unhook(p)
		}
		e.relink(p, link, false) // it has no session yet: the reply was lost with the link
	case p.state == peerConnected:
		e.failPeer(p, BadSession, false)
		e.attach(p, link, false)
	default:
		e.attach(p, link, false)
	}
	if old != nil {
		e.host.Drop(p.index, old, false)
	}
	if p.link == link {
		e.admit(p, o)
	}
}

// admit answers the Connect that has made a stranger's link a peer's.
func (e *Engine) admit(p *peer, o *offer) {
	e.answerConnect(p, o)
	if e.awaited(p) {
		e.askAll(p)
	}
}

// alive notes that a peer has given a sign of life: whoever claims its address
// meanwhile is not the peer.
func (e *Engine) alive(p *peer) {
	p.vigil.moved = true
	if !p.probed {
		return
	}
	p.probed = false
	for s := e.claimant(p); s != nil; s = e.claimant(p) {
		e.count.FalseClaims++
		e.turnAway(s)
	}
}

// claimant returns the youngest stranger whose claim to a peer's address is held.
func (e *Engine) claimant(p *peer) *peer {
	for n := len(e.strangers) - 1; n >= 0; n-- {
		if s := e.peers[e.strangers[n]]; s.at == p.at && s.claimed != nil {
			return s
		}
	}
	return nil
}

// endOlderClaims turns away who claimed the address of a peer before the session with it began, and offers another one. The
// claim is of the peer itself, which has gone on since to the session, or of a former incarnation: if the link of the
// session dies, it must not end that. A later incarnation that asked before this one was heard dials again.
func (e *Engine) endOlderClaims(p *peer) {
	for n := len(e.strangers) - 1; n >= 0; n-- {
		if s := e.peers[e.strangers[n]]; s.at == p.at && s.claimed != nil && s.claimed.c.Session != p.remote {
			e.turnAway(s)
		}
	}
}

// succeed gives whoever claims a peer's address its place, as the peer's own link is dead or
// of no use.
func (e *Engine) succeed(p *peer) bool {
	s := e.claimant(p)
	if s == nil {
		return false
	}
	p.probed = false
	if p.mute() && e.challenges(p, s, s.claimed) {
		return false
	}
	e.takeOver(p, s, s.claimed)
	return true
}

// unclaim notes that the peer does not go over to our link, because we don't know its
// filter. A link of its own that it has asked over meanwhile is taken.
func (e *Engine) unclaim(p *peer) {
	p.linkAsked = false
	e.succeed(p)
}

// claimSession takes a stranger's Resume.
func (e *Engine) claimSession(s *peer, h *wire.Header, payload []byte) {
	i, ok := e.byAddr[s.at]
	if !ok {
		e.refuse(s, h)
		return
	}
	p, link := e.peers[i], s.link
	switch {
	case p.state == peerDialing && h.Session == p.local:
		if p.link == nil { // the reply that makes us connected was lost: our Connect brings another
			e.forgetStranger(s)
			e.host.Adopted(p.index, link)
			e.attach(p, link, false)
			e.askAll(p)
		}
		return
	case p.state != peerConnected || p.heal == nil || h.Session != p.local:
		e.refuse(s, h)
		return
	case !p.proves(payload):
		e.count.BadProofs++
		e.turnAway(s)
		return
	}
	head := *h
	e.forgetStranger(s)
	e.host.Adopted(p.index, link)
	e.relink(p, link, false)
	if p.link == link {
		e.arriveResume(p, &head, payload)
	}
}

// proves reports whether the payload of a Resume is the token that the peer was given.
func (p *peer) proves(payload []byte) bool {
	if len(payload) != wire.TokenSize || p.given == (wire.Token{}) {
		return false
	}
	differs := byte(0)
	for i, b := range payload {
		differs |= b ^ p.given[i]
	}
	return differs == 0
}

// give returns the token that the peer has to show to resume the present session, or
// the session that is being offered.
func (e *Engine) give(p *peer) wire.Token {
	if p.given == (wire.Token{}) {
		binary.LittleEndian.PutUint64(p.given[:], e.host.Random())
		binary.LittleEndian.PutUint64(p.given[8:], e.host.Random()|1) // zero is none
	}
	return p.given
}
