package endpoint

import (
	"gomx/transport/wire"
	"gomx/unexpected"
)

// storedKind says what a message of the unexpected store holds in Data.
type storedKind uint8

const (
	storedEager  storedKind = iota // the bytes
	storedRemote                   // the memory descriptor for a get
	storedSelf                     // nothing: the bytes are still with our own send
)

// Flags of stored messages.
const (
	descLost = 1 << 7               // the link that the memory descriptor was for is gone
	asHeader = uint8(wire.AsHeader) // paid for as a header
)

// arriveEager takes an eager message.
func (e *Engine) arriveEager(p *peer, h *wire.Header, payload []byte) {
	if e.inline.live && !e.posted.Posted(h.Match) && e.takeInline(p, h, payload) {
		return
	}
	if slot, ok := e.arrive(p, h.Match); ok {
		e.receiveEager(p, slot, h, payload)
		return
	}
	// The header is the link's or our own scratch, which operations inside the
	// handler may overwrite.
	head, session, medium := *h, p.remote, p.medium
	if e.handler {
		if e.askHandler(p, head.Match, uint32(len(payload)), payload) == Finished {
			medium.receive(len(payload))
			if e.recorder != nil {
				e.recorder.came(EventMatched, EventHandled, p, &head, len(payload), 0)
			}
			if head.Flags&wire.HasID != 0 {
				e.settleSend(p, session, head.ID, 0, wire.Discarded)
			}
			return
		}
		if e.died(p, &head) {
			return
		}
		if slot, ok := e.match(p, head.Match); ok {
			e.receiveEager(p, slot, &head, payload)
			return
		}
	}
	medium.receive(len(payload))
	id := e.store(unexpected.Message{
		Match: head.Match, Peer: p.index, Kind: uint8(storedEager), Flags: uint8(head.Flags & (wire.Sync | wire.AsHeader)),
		Length: uint32(len(payload)), ID: head.ID, Aux: uint64(head.Seq)<<seqShift | uint64(session),
	}, len(payload))
	copy(e.unexp.At(id).Data, payload)
	if head.Flags != 0 {
		e.acknowledge(p, session, &head, len(payload))
	}
	if e.recorder != nil {
		e.recorder.came(EventUnexpected, 0, p, &head, len(payload), 0)
	}
	e.stored(id)
}

// arriveRendezvous takes the header of a message whose bytes stay with the sender: a
// large one, or one for which it had no credit.
func (e *Engine) arriveRendezvous(p *peer, h *wire.Header, desc []byte) {
	if h.Flags&(wire.HasID|wire.HasRange) != wire.HasID|wire.HasRange {
		e.count.Malformed++
		return
	}
	e.missesBytes(p, h.Total)
	if slot, ok := e.arrive(p, h.Match); ok {
		slot, r := e.matchRendezvous(p, slot, h)
		e.startRendezvous(p, slot, r, h.ID, h.Total, desc)
		return
	}
	head, session, medium := *h, p.remote, p.medium
	if e.handler && shownByHeader(head.Total) {
		if e.askHandler(p, head.Match, head.Total, nil) == Finished {
			medium.RecvRendezvous++
			if e.recorder != nil {
				e.recorder.came(EventMatched, EventHandled, p, &head, int(head.Total), 0)
			}
			e.settleSend(p, session, head.ID, 0, wire.Discarded)
			return
		}
		if e.died(p, &head) {
			return
		}
		if slot, ok := e.match(p, head.Match); ok {
			slot, r := e.matchRendezvous(p, slot, &head)
			e.startRendezvous(p, slot, r, head.ID, head.Total, desc)
			return
		}
	}
	medium.RecvRendezvous++
	id := e.store(unexpected.Message{
		Match: head.Match, Peer: p.index, Kind: uint8(storedRemote),
		Length: head.Total, ID: head.ID, Aux: uint64(head.Seq)<<seqShift | uint64(session),
	}, len(desc))
	copy(e.unexp.At(id).Data, desc)
	if e.recorder != nil {
		e.recorder.came(EventUnexpected, 0, p, &head, int(head.Total), 0)
	}
	e.stored(id)
}

// shownByHeader reports whether the handler is shown a message of which only the header is here. It is promised the bytes of a small
// one, which comes so if the peer did not know of the handler yet. An empty one has none.
func shownByHeader(total uint32) bool { return total == 0 || total >= AlwaysEager }

// matchRendezvous returns the receive that a rendezvous has matched. Of a multi-receive that is a request of its own,
// for the part of the buffer that the message takes.
func (e *Engine) matchRendezvous(p *peer, slot int32, h *wire.Header) (int32, *request) {
	p.medium.RecvRendezvous++
	r := e.reqs.at(slot)
	if r.kind == kindRecvMulti {
		slot, r = e.partOf(slot, r, h.Total)
	}
	e.untie(r)
	r.peer, r.session, r.match, r.msgLen = p.index, p.remote, h.Match, h.Total
	if e.recorder != nil {
		e.recorder.came(EventMatched, 0, p, h, int(h.Total), handleOf(slot, r.generation))
	}
	return slot, r
}

// askHandler shows an unexpected message to the user's handler (VII.1.4).
func (e *Engine) askHandler(p *peer, match uint64, length uint32, data []byte) Action {
	e.count.Handled++
	e.incoming = Incoming{Source: Addr{e.shown(p.index), p.remote}, Match: match, Length: length, Data: data}
	e.handling, e.lostSelf = true, false
	action := e.host.Unexpected(&e.incoming)
	e.handling = false
	e.incoming.Data = nil
	return action
}

// died reports whether a message that was shown to the handler has died with its session: the handler, or
// somebody beside it, has disconnected its sender.
func (e *Engine) died(p *peer, h *wire.Header) bool {
	return p.local != h.Session || e.lostSelf && e.ourselves(p)
}

// stored notes a message that nobody waited for.
func (e *Engine) stored(id int32) {
	if e.trace {
		e.arrived++
		e.unexp.At(id).Seq = e.arrived
		e.arrivals = append(e.arrivals, arrival{id, e.arrived})
	}
}
