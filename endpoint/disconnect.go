package endpoint

import (
	"gomx/transport/wire"
	"gomx/unexpected"
)

// Disconnect ends the session with a peer (XII.1.1): its requests complete with
// EndpointUnreachable, its unexpected messages are dropped, and the address is
// dead until a connect succeeds again. Our own address needs no connect, and is
// never dead.
func (e *Engine) Disconnect(a Addr) error {
	if !e.known(a) {
		return ErrBadAddress
	}
	p := e.peers[a.Peer]
	switch {
	case p.remote != a.Session:
	case p.index == 0:
		e.disconnectSelf()
	case p.state == peerConnected:
		e.disconnect(p)
	default:
		e.dropStored(p, true)
	}
	return nil
}

// Goodbye tells every connected peer that the endpoint closes.
func (e *Engine) Goodbye() {
	e.leaving = true
	for _, p := range e.peers[1:] {
		e.bye(p)
	}
}

// Unsaid reports whether greetings, such as a bye, still wait for a full link. An owner that closes goes on, within a
// bound, until there are none.
func (e *Engine) Unsaid() bool {
	for _, i := range e.backlog {
		if p := e.peers[i]; p.link != nil && p.greetings.len() > 0 {
			return true
		}
	}
	return false
}

// disconnect ends the session from our side.
func (e *Engine) disconnect(p *peer) {
	e.bye(p)
	p.nacked = p.local // the goodbye says as much
	e.failPeer(p, EndpointUnreachable, true)
	if p.rel != nil && !e.ourselves(p) {
		p.byeSession, p.byesLeft, p.byeAt = p.remote, byes, e.clock()+byeRetry
		e.watchPeer(p)
	}
}

// Over media that lose frames a goodbye is repeated until the peer answers it
// with a Nack, some times at most.
const (
	byes          = 8
	byeRetry Tick = 50
)

func (e *Engine) bye(p *peer) {
	if p.state == peerConnected && !e.ourselves(p) {
		e.greet(p, greeting{h: wire.Header{Kind: wire.Bye, Session: p.remote}})
	}
}

func (e *Engine) repeatBye(p *peer) {
	p.byesLeft--
	p.byeAt = e.now + byeRetry
	e.greet(p, greeting{h: wire.Header{Kind: wire.Bye, Session: p.byeSession}})
}

// arriveBye: the peer closes its endpoint or disconnects from us.
func (e *Engine) arriveBye(p *peer, h *wire.Header) {
	session := h.Session
	e.failPeer(p, EndpointClosed, false)
	if p.rel != nil {
		e.nack(p, session)
	}
	e.askSoon(p)
}

// failPeer ends everything that is tied to a peer. Messages that arrived whole
// stay receivable, unless all is to be forgotten; those whose bytes are still
// with the peer are dropped. Connects go on: they are about the next session.
func (e *Engine) failPeer(p *peer, code Code, all bool) {
	if e.ourselves(p) {
		e.loseSelf(code)
		return
	}
	if p.state == peerConnected {
		e.note(SessionEnded, p, code)
	}
	p.state, p.goneCode, p.vigil.on, p.vigil.givenUp = peerGone, code, false, false
	p.renew()
	e.shutAccounts(p)
	e.forgetFrames(p)
	e.endRequests(p, code)
	e.dropStored(p, all)
}

// endRequests completes every request that is tied to a peer, and drops what
// waits to be sent.
func (e *Engine) endRequests(p *peer, code Code) {
	p.queue.reset()
	p.waiting.reset()
	p.answers.reset()
	p.control.clear()
	p.unanswered = 0
	p.jobs.clear()
	p.refresh(-1)
	e.eachRequest(func(slot int32, r *request) {
		if r.peer != p.index || e.isRead(slot, r) { // deliverSelf ends that one
			return
		}
		switch r.state {
		case stateQueued, stateUnpaid, stateOffered, stateBuffered, stateAsked, stateWatching:
			e.fail(slot, r, code)
		case stateHeld, stateReady:
			e.unhold(r)
			e.fail(slot, r, code)
		case stateTied:
			e.unpost(slot)
			e.fail(slot, r, code)
		case statePulling:
			e.failPull(slot, r, code)
		}
	})
}

func (e *Engine) dropStored(p *peer, all bool) {
	e.unexp.Each(func(id int32, m *unexpected.Message) {
		lost := storedKind(m.Kind) == storedRemote && !e.unexp.Claimed(id) // whoever has claimed it gets an error
		if m.Peer == p.index && (all || lost) {
			e.unstore(id)
			e.count.Dropped++
		}
	})
	e.feed(p)
}

// refuse answers a frame of a session that is not the current one.
func (e *Engine) refuse(p *peer, h *wire.Header) {
	e.count.BadSession++
	switch {
	case h.Kind == wire.Ack && h.Match != ackPlease:
	case h.Kind == wire.Bye && p.rel == nil:
	case p.rel != nil && p.state == peerDialing && h.Session == p.local:
		// It overtook the reply that makes us connected, and will be retransmitted.
	default:
		e.nack(p, h.Session)
	}
}

// nack tells the peer which number of ours it must not use any more. Nor do we: if it is the one that is being offered, the
// peer has entered a session with it, of which we have not heard or don't want to hear, and that ends.
func (e *Engine) nack(p *peer, session uint32) {
	if p.rel == nil && p.nacked == session {
		return
	}
	p.nacked = session
	e.greet(p, greeting{h: wire.Header{Kind: wire.Nack, Session: session}})
	if p.state != peerConnected && session == p.local {
		p.renew()
		e.askSoon(p)
	}
}

// arriveNack: the session that we use for the peer has ended there.
func (e *Engine) arriveNack(p *peer, h *wire.Header) {
	switch {
	case p.state == peerConnected && h.Session == p.remote:
		e.failPeer(p, BadSession, false)
	case p.byesLeft > 0 && h.Session == p.byeSession:
		p.byesLeft = 0 // it has heard our goodbye
	case e.takeBack(p, h):
	default:
		e.count.Stale++
	}
	if !p.asking && p.state != peerConnected {
		e.askAll(p) // they waited for the link of a session that has ended
	}
	e.askSoon(p)
}
