package endpoint

import "gomx/transport/wire"

// greeting is a frame about the session itself: Connect, ConnectReply, Bye or
// Nack. Greetings have no sequence number and outlive the session they are
// about. While one waits for a full link nothing else goes, so that no message
// overtakes the reply that makes the peer expect it.
type greeting struct {
	h    wire.Header
	c    wire.ConnectInfo // if h.Length is not 0
	data []byte           // of the program, behind that
}

// maxGreetings and maxLossyGreetings bound what may wait for one link. Connects
// that find no place are asked again, over media that lose frames rather often.
const (
	maxGreetings      = 64
	maxLossyGreetings = 4
)

// greet sends a greeting, now or when the link takes it.
func (e *Engine) greet(p *peer, g greeting) {
	if p.link == nil {
		return
	}
	if p.greetings.len() == 0 && e.sendGreeting(p, &g) {
		return
	}
	most := maxGreetings
	if p.rel != nil {
		most = maxLossyGreetings
	}
	if g.h.Kind != wire.Bye && p.greetings.len() >= most {
		return
	}
	p.greetings.push(g)
	p.fast = -1
	e.wait(p)
}

func (e *Engine) sendGreeting(p *peer, g *greeting) bool {
	e.header = g.h
	if g.h.Length == 0 {
		return p.link.Send(&e.header, nil, 0)
	}
	if g.h.Kind == wire.Resume {
		e.bytes = append(e.bytes[:0], g.c.Token[:]...)
	} else {
		e.bytes = append(g.c.Append(e.bytes[:0]), g.data...)
	}
	e.out = wire.Vec{First: e.bytes}
	return p.link.Send(&e.header, &e.out, 0)
}

// LinkUp gives a peer a link. With dialled it is a link that the engine asked Host.Dial
// for, else a link that the port has accepted. The peer may already have a link:
//
//   - A link that was accepted is a stranger's at first, see stranger.go; so of two
//     sides that dial at once each uses the link of its own until it hears of the other.
//   - A session whose link broke is resumed over a link that we have dialled: see relink.
//   - Over media that lose frames, a connected peer gets a link in reserve.
func (e *Engine) LinkUp(pi int32, l wire.Link, dialled bool) {
	p := e.peers[pi]
	if dialled {
		p.dialled = false
	}
	smaller := e.peers[0].at.less(p.at)
	switch {
	case p.state == peerStranger:
		e.attach(p, l, false)
		return
	case pi == 0 || pi == e.mirror:
		e.ownLinkUp(p, l, dialled)
		return
	case p.state == peerConnected && p.heal != nil:
		e.relink(p, l, dialled)
		return
	case p.link == nil:
	case dialled && p.rel == nil:
		e.host.Drop(pi, l, false) // the peer has reached us meanwhile
		return
	case p.state == peerConnected || smaller:
		if p.next != nil {
			e.host.Drop(pi, p.next, false)
		}
		p.next = l
		return
	case dialled:
		e.host.Drop(pi, l, false)
		return
	default:
		e.host.Drop(pi, p.link, false)
	}
	e.attach(p, l, dialled)
	e.askAll(p)
}

// outranks reports whether the peer's present link stays when another one came up at
// the same time: only the present one was dialled by the smaller address.
func (p *peer) outranks(smaller, dialled bool) bool {
	return p.linkDialled == smaller && dialled != smaller
}

func (a address) less(b address) bool {
	return a.nic < b.nic || a.nic == b.nic && a.endpoint < b.endpoint
}

// LinkFailed ends the connects to a peer that no link can be had to, if all of them are older than
// the dial that has found that. The code says why, as EndpointClosed or EndpointUnreachable. With TimedOut the peer is
// there, or may be, but is too slow at the moment: connects go on, and dial again,
// for as long as they are given.
func (e *Engine) LinkFailed(pi int32, code Code) {
	p := e.peers[pi]
	p.dialled = false
	if p.link != nil {
		return // the peer has reached us meanwhile
	}
	switch {
	case p.broken() && code != EndpointClosed:
		e.dialLater(p) // there is none to be had at the moment
	case pi == 0:
		e.loseSelf(code)
	case p.broken():
		e.failPeer(p, EndpointUnreachable, false)
		e.failConnects(p, code)
	case code == TimedOut:
		e.dialLater(p)
	default:
		e.failConnects(p, code)
	}
}

// LinkDown tells the engine that a link is dead. Requests tied to the peer
// complete with EndpointUnreachable, unless the peer has said goodbye before or
// the medium heals.
func (e *Engine) LinkDown(pi int32, l wire.Link) {
	p := e.endOf(pi, l)
	if p.next == l {
		p.next = nil
	}
	if p.link == l && p.state == peerStranger {
		e.forgetStranger(p)
		return
	}
	if p.link != l {
		return // replaced before it died
	}
	if p.state == peerConnected && p.heal != nil {
		e.breakLink(p)
		return
	}
	e.loseLink(p, EndpointUnreachable)
}

// loseLink ends the session with its link, and goes over to the link in
// reserve if there is one.
func (e *Engine) loseLink(p *peer, code Code) {
	if e.ourselves(p) {
		e.loseSelf(code)
		return
	}
	over, was := p.local, p.state == peerConnected
	if was {
		e.failPeer(p, code, false)
	}
	next, used := p.next, p.used
	e.unlink(p)
	if next != nil {
		e.attach(p, next, false)
		if was {
			// If the peer has given the link up for this one, our reply was lost
			// with it: it shall ask again at once.
			e.nack(p, over)
		}
		e.askAll(p)
		return
	}
	if e.succeed(p) {
		return
	}
	if p.dialled {
		return // the peer gave up its own link in favour of the link that we are dialling
	}
	switch {
	case !e.awaited(p):
	case used:
		e.dial(p) // they asked an endpoint that was closing; another one may be open by now
	default:
		e.dialLater(p) // the next dial tells whether there is anybody
	}
}

// dial asks for a link, if that has not been done yet.
func (e *Engine) dial(p *peer) {
	if !p.dialled {
		p.dialled, p.redialAt = true, Never
		e.host.Dial(p.index, p.at.nic, p.at.endpoint)
	}
}

// Pauses between dials that bring no session.
const (
	redialFirst Tick = 50 // doubles
	redialMost  Tick = 1000
)

// dialLater asks for a link after a pause, which grows.
func (e *Engine) dialLater(p *peer) {
	p.redialAt = e.clock() + min(redialMost, redialFirst<<min(p.redials, 8))
	p.redials++
	e.watchPeer(p)
}

// awaited reports whether connects to p are pending.
func (e *Engine) awaited(p *peer) (found bool) {
	e.eachConnect(p, func(int32, *request) { found = true })
	return found
}

// failConnects ends the connects to p. If one has begun since the dial that found nobody, the peer
// may have come back before it, and is dialled again.
func (e *Engine) failConnects(p *peer, code Code) {
	if p.anew && e.awaited(p) {
		p.anew = false
		e.dial(p)
		return
	}
	e.eachConnect(p, func(slot int32, r *request) { e.complete(slot, r, code) })
	e.undial(p)
}

// attach makes l the peer's link.
func (e *Engine) attach(p *peer, l wire.Link, dialled bool) {
	e.unlink(p)
	p.link, p.caps = l, l.Caps()
	p.medium = e.mediumNamed(p.caps.Name)
	p.linkDialled = dialled
	switch {
	case !p.caps.Reliable || !p.caps.Ordered:
		p.rel, p.log = new(reliability), new(sentLog)
	case p.caps.Heals:
		p.heal, p.log = new(healing), new(sentLog)
	}
}

// unlink takes the links away from a peer without a session.
func (e *Engine) unlink(p *peer) {
	if p.link != nil {
		e.failPulls(p)
	}
	if p.log != nil {
		p.log.reset(&e.frames, 0)
	}
	e.dropPieces(p)
	e.endVisit(p)
	p.link, p.caps, p.rel, p.log, p.heal, p.next = nil, nil, nil, nil, nil, nil
	p.greetings.clear()
	p.byesLeft, p.nacked, p.pushing, p.used, p.linkAsked = 0, 0, 0, false, false
	p.refresh(-1)
}
