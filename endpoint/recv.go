package endpoint

import (
	"gomx/match"
	"gomx/transport/wire"
	"gomx/unexpected"
)

// Posting is a receive that is to be posted, handed on like Outgoing.
type Posting struct {
	First       []byte // where the message goes, or the first segment of that
	Value, Mask uint64
	Context     any // comes back in the status
}

// RecvOptions are what most receives have no need of. nil is none.
type RecvOptions struct {
	Rest [][]byte // the segments behind the first
	Tied bool     // to From: it ends when the session with that peer does
	From Addr

	// Counter, unless it is Private, counts the receive, which has no handle then. Recv alone heeds it.
	Counter QueueID
}

// Recv posts a receive for the first message with incoming & mask == value (II.4, V.2). A message that waits in the
// unexpected store is taken at once.
//
// If the session of the peer to which it is tied ends before a message has matched, the receive completes with the
// status that ended it. Matching is by bits alone, so that it may get the message of somebody else. Of a session that
// is over already it takes what has arrived and waits, and else is complete at once.
func (e *Engine) Recv(i *Posting, opts *RecvOptions) (Handle, error) {
	if opts != nil && opts.Tied && !e.known(opts.From) {
		return 0, ErrBadAddress
	}
	if i.Value&^i.Mask != 0 || opts != nil && len(opts.Rest) > 0 || e.cfg.ContextBits != 0 {
		if err := e.checkRecv(i, opts); err != nil {
			return 0, err
		}
	}
	slot, r := e.reqs.alloc()
	r.kind, r.state = kindRecv, statePosted
	r.vec.First = i.First
	if i.Context != nil {
		r.ctx = i.Context
	}
	r.match, r.mask, r.started = i.Value, i.Mask, e.begins()
	if opts != nil {
		r.keepRest(opts.Rest)
		if opts.Counter != Private {
			r.countedBy(opts.Counter)
		}
	}
	h := handleOf(slot, r.generation)
	if e.unexp.Len() > 0 {
		if id, ok := e.unexp.Find(i.Value, i.Mask); ok {
			e.receiveStored(slot, r, id)
			return h, nil
		}
	}
	if opts != nil && opts.Tied && !e.tie(slot, r, opts.From) {
		return h, nil
	}
	e.posted.Post(slot, i.Value, i.Mask)
	return h, nil
}

func (e *Engine) checkRecv(i *Posting, opts *RecvOptions) error {
	switch {
	case !match.Valid(i.Value, i.Mask):
		return ErrBadMask
	case opts != nil && len(opts.Rest) >= MaxSegments:
		return ErrBadSegCount
	case i.Mask&e.cfg.contextMask() != e.cfg.contextMask():
		return ErrBadContextMask
	}
	return nil
}

// receiveStored matches a new receive with a message of the unexpected store.
func (e *Engine) receiveStored(slot int32, r *request, id int32) {
	m := e.unexp.At(id)
	p := e.peers[m.Peer]
	r.peer, r.session = m.Peer, uint32(m.Aux)
	r.match, r.msgLen = m.Match, m.Length
	if e.recorder != nil {
		e.recordStored(id, handleOf(slot, r.generation))
	}
	switch storedKind(m.Kind) {
	case storedEager:
		e.receiveCopy(p, slot, r, m)
		e.unstore(id)
	case storedSelf:
		from := Handle(m.ID)
		e.unstore(id)
		e.receiveSelf(slot, r, from)
	default:
		total, from := m.Length, m.ID
		e.bytes = e.bytes[:0]
		if m.Flags&descLost == 0 {
			e.bytes = append(e.bytes, m.Data...)
		}
		e.unstore(id)
		e.startRendezvous(p, slot, r, from, total, e.bytes)
	}
	e.feed(p)
}

func (e *Engine) receiveCopy(p *peer, slot int32, r *request, m *unexpected.Message) {
	n := copy(r.vec.First, m.Data)
	if n < len(m.Data) && len(r.vec.Rest) > 0 {
		n = r.vec.Scatter(0, m.Data)
	}
	r.xferLen = uint32(n)
	code := Success
	if n < len(m.Data) {
		code = Truncated
	}
	e.classes.of(r.match).receive(n)
	if wire.Flags(m.Flags)&wire.Sync != 0 {
		e.settleSend(p, uint32(m.Aux), m.ID, uint32(n), dispositionOf(code))
	}
	e.complete(slot, r, code)
}

// settleSend answers a send whose message was not received on arrival, unless its sender has
// gone since.
func (e *Engine) settleSend(p *peer, session uint32, id uint64, taken, disposition uint32) {
	switch {
	case p.state != peerConnected || p.remote != session:
	case p.index == 0:
		if slot, r := e.reqs.find(Handle(id)); r != nil {
			e.completeSend(slot, r, taken, disposition)
		}
	default:
		e.notify(p, id, taken, disposition)
	}
}
