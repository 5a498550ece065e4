package endpoint

import (
	"math"

	"gomx/transport/wire"
)

// With Config.SelfOverLink the endpoint's messages to itself travel over a link
// like those to others (MX_DISABLE_SELF). Both ends of such a link are here. The end
// that was dialled belongs to peer 0, which messages go to. The end that was accepted
// belongs to the mirror, which messages come from. The program does not see the mirror:
// its messages appear as messages of peer 0. The session of the two needs no connect
// and never ends.

// reflect makes the mirror.
func (e *Engine) reflect() {
	p := e.newPeer(e.peers[0].at)
	p.dialled = true // it never dials
	e.mirror = p.index
	e.beginSelf()
}

// beginSelf puts both ends at the beginning of the session.
func (e *Engine) beginSelf() {
	self := e.peers[0]
	p := e.peers[e.mirror]
	p.local = self.local
	for _, end := range []*peer{self, p} {
		e.begin(end, self.local, math.MaxInt32, e.firstCredits())
		end.shows = e.handler
	}
}

// local reports whether messages to p don't leave the engine.
func (e *Engine) local(p *peer) bool { return p.index == 0 && e.mirror == 0 }

// ourselves reports whether p is an end of a link to ourselves.
func (e *Engine) ourselves(p *peer) bool {
	return e.mirror != 0 && (p.index == 0 || p.index == e.mirror)
}

// endOf returns the peer that a link is in use for, or the one it would be for.
func (e *Engine) endOf(pi int32, l wire.Link) *peer {
	if p := e.peers[e.mirror]; pi == 0 && e.mirror != 0 && p.link == l {
		return p
	}
	return e.peers[pi]
}

func (e *Engine) ownLinkUp(p *peer, l wire.Link, dialled bool) {
	switch {
	case e.mirror == 0 || !dialled && p.link != nil: // a stranger under our own address
		e.count.Claims++
		e.host.Drop(p.index, l, false)
	case p.heal != nil:
		e.relink(p, l, dialled)
	default:
		e.attach(p, l, dialled)
		e.begin(p, p.local, math.MaxInt32, e.firstCredits())
		p.shows = e.handler
		e.wait(p)
	}
}

// loseSelf ends what was under way when the link to ourselves is gone for good.
func (e *Engine) loseSelf(code Code) {
	e.lostSelf = true
	for _, p := range []*peer{e.peers[0], e.peers[e.mirror]} {
		link := p.link
		e.endRequests(p, code)
		e.dropStored(p, false)
		e.unlink(p)
		if link != nil {
			e.host.Drop(p.index, link, false)
		}
	}
	e.beginSelf()
}

// shown is the peer that users see in place of p.
func (e *Engine) shown(p int32) int32 {
	if p == e.mirror {
		return 0
	}
	return p
}
