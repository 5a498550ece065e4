package endpoint

import "gomx/transport/wire"

const resendBurst = 16 // frames sent again at once

// arriveAck takes a cumulative acknowledgement: everything before ack is there.
// A bare ack of base while frames are out means that one was lost.
func (e *Engine) arriveAck(p *peer, ack uint32, bare bool) {
	r, l := p.rel, p.log
	if ack == l.base {
		r.since = e.now // nothing is taken, but the peer is alive
		if bare && l.outstanding() > 0 && r.quickly != l.base+1 {
			r.quickly = l.base + 1
			e.sendAgain(p, l.base)
		}
		return
	}
	if !l.acknowledge(&e.frames, ack) {
		return
	}
	r.since, r.tries, r.due = e.now, 0, e.now+resendFirst
	if p.hasQueued() {
		e.wait(p)
	}
}

// resend sends the oldest unacknowledged frames again, each time later.
func (e *Engine) resend(p *peer) {
	r := p.rel
	for i := range min(resendBurst, p.log.outstanding()) {
		e.sendAgain(p, p.log.base+uint32(i))
	}
	r.tries++
	r.due = e.now + min(resendMost, resendFirst<<min(r.tries, 8))
}

func (e *Engine) sendAgain(p *peer, seq uint32) {
	if !p.log.kept.has(seq) {
		return
	}
	k := p.log.kept.at(seq)
	e.count.Resent++
	k.h.Ack = p.recvSeq
	e.out = wire.Vec{First: k.data}
	if p.link.Send(&k.h, &e.out, 0) {
		p.rel.acked()
	}
}
