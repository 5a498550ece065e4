package endpoint

import "gomx/transport/wire"

const resendBurst = 16 // frames sent again at once

// arriveAck takes a cumulative acknowledgement: everything before ack is there.
// A bare ack of base while frames are out means that one was lost.
func (e *Engine) arriveAck(p *peer, ack uint32, bare bool) {
	r := p.rel
	if int32(ack-r.base) < 0 || int32(r.next-ack) < 0 {
		return // old, or of frames never sent
	}
	if ack == r.base {
		r.since = e.now // nothing is taken, but the peer is alive
		if bare && r.outstanding() > 0 && r.quickly != r.base+1 {
			r.quickly = r.base + 1
			e.sendAgain(p, r.base)
		}
		return
	}
	for r.base != ack {
		k := &r.kept[r.base%window]
		k.used = false
		r.bytes -= int(k.h.Length)
		r.base++
	}
	r.since, r.tries, r.due = e.now, 0, e.now+resendFirst
	if p.queue.head != none || p.control.len() > 0 {
		e.wait(p)
	}
}

// resend sends the oldest unacknowledged frames again, each time later.
func (e *Engine) resend(p *peer) {
	r := p.rel
	for i := 0; i < min(resendBurst, r.outstanding()); i++ {
		e.sendAgain(p, r.base+uint32(i))
	}
	r.tries++
	r.due = e.now + min(resendMost, resendFirst<<min(r.tries, 8))
}

func (e *Engine) sendAgain(p *peer, seq uint32) {
	k := &p.rel.kept[seq%window]
	if !k.used || k.h.Seq != seq {
		return
	}
	e.count.Resent++
	k.h.Ack = p.recvSeq
	e.out = wire.Vec{First: k.data}
	if p.link.Send(&k.h, &e.out, 0) {
		p.rel.acked()
	}
}
