package endpoint

import (
	"gomx/match"
	"gomx/transport/wire"
	"gomx/unexpected"
)

// Posting is a receive into one segment, handed on like Outgoing.
type Posting struct {
	Into        []byte
	Value, Mask uint64
	Context     any // comes back in the status
}

// RecvOne is Recv into one segment, and its fast path.
func (e *Engine) RecvOne(i *Posting) (Handle, error) {
	if i.Value&^i.Mask != 0 || e.cfg.ContextBits != 0 || e.unexp.Len() > 0 {
		return e.Recv(wire.Vec{First: i.Into}, i.Value, i.Mask, i.Context)
	}
	slot, r := e.reqs.alloc()
	r.kind, r.state = kindRecv, statePosted
	r.vec.First = i.Into
	if i.Context != nil {
		r.ctx = i.Context
	}
	r.match = i.Value
	e.posted.Post(slot, i.Value, i.Mask)
	return handleOf(slot, r.generation), nil
}

// Recv posts a receive into v for the first message with
// incoming & mask == value (II.4, V.2). A message that waits in the unexpected
// store is taken at once.
func (e *Engine) Recv(v wire.Vec, value, mask uint64, ctx any) (Handle, error) {
	if value&^mask != 0 || len(v.Rest) >= MaxSegments || e.cfg.ContextBits != 0 {
		if err := e.checkRecv(&v, value, mask); err != nil {
			return 0, err
		}
	}
	slot, r := e.reqs.alloc()
	r.kind, r.state = kindRecv, statePosted
	r.vec.First = v.First
	if len(v.Rest) > 0 {
		r.keep(v)
	}
	if ctx != nil {
		r.ctx = ctx
	}
	r.match, r.mask, r.started = value, mask, e.now
	h := handleOf(slot, r.generation)
	if e.unexp.Len() > 0 {
		if id, ok := e.unexp.Find(value, mask); ok {
			e.receiveStored(slot, r, id)
			return h, nil
		}
	}
	e.posted.Post(slot, value, mask)
	return h, nil
}

func (e *Engine) checkRecv(v *wire.Vec, value, mask uint64) error {
	switch {
	case !match.Valid(value, mask):
		return ErrBadMask
	case len(v.Rest) >= MaxSegments:
		return ErrBadSegCount
	case mask&e.cfg.contextMask() != e.cfg.contextMask():
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
		if m.Flags&placeLost == 0 {
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
		e.settleSync(p, uint32(m.Aux), m.ID, uint32(n), dispositionOf(code))
	}
	e.complete(slot, r, code)
}

// settleSync answers a synchronous send whose message was stored, unless its
// sender has gone since.
func (e *Engine) settleSync(p *peer, session uint32, id uint64, taken, disposition uint32) {
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
