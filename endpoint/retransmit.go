package endpoint

import "gomx/transport/wire"

const retransmitBurst = 16 // frames retransmitted at once

// arriveAck takes a cumulative acknowledgement: everything before ack is there.
// A bare ack of base while frames are out means that one was lost.
func (e *Engine) arriveAck(p *peer, ack uint32, bare bool) {
	r, l := p.rel, p.log
	if ack == l.base {
		r.since = e.now // nothing is taken, but the peer is alive
		if bare && l.outstanding() > 0 && r.quickly != l.base+1 {
			r.quickly = l.base + 1
			e.retransmit(p, l.base)
		}
		return
	}
	if !l.acknowledge(&e.frames, ack) {
		return
	}
	r.since, r.tries, r.due = e.now, 0, e.now+retransmitFirst
	if p.hasQueued() {
		e.wait(p)
	}
}

// retransmitDue retransmits the oldest unacknowledged frames, each time later.
func (e *Engine) retransmitDue(p *peer) {
	r := p.rel
	for i := range min(retransmitBurst, p.log.outstanding()) {
		e.retransmit(p, p.log.base+uint32(i))
	}
	r.tries++
	r.due = e.now + min(retransmitMost, retransmitFirst<<min(r.tries, 8))
}

func (e *Engine) retransmit(p *peer, seq uint32) {
	if !p.log.kept.has(seq) {
		return
	}
	k := p.log.kept.at(seq)
	e.count.Retransmitted++
	k.h.Ack = p.recvSeq
	e.out = wire.Vec{First: k.data}
	if p.link.Send(&k.h, &e.out, 0) {
		p.rel.acked()
	}
}
