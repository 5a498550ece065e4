package endpoint

import (
	"gomx/transport/wire"
	"gomx/unexpected"
)

// inlineReceive is a receive that has not been posted: its owner polls for a moment, and most messages that it waits
// for arrive then. It is matched after all posted receives. It is posted, as a request, when a message arrives that
// takes more than a copy, and when the owner does not wait any longer.
type inlineReceive struct {
	live        bool // neither a message nor a request yet
	value, mask uint64
	from        Addr
	b           []byte
	n           int // bytes received
	handle      Handle
	err         error
}

// RecvInline begins an inline receive, tied, into one segment. False: this receive has to be posted. Until EndInline
// the owner may do nothing but poll. A message that waits already may have been received on return.
func (e *Engine) RecvInline(i *Posting, from Addr) bool {
	if i.Value&^i.Mask != 0 || e.cfg.ContextBits != 0 || e.handler || !e.direct(from) {
		return false
	}
	c := &e.inline
	c.live, c.handle, c.err = true, 0, nil
	c.value, c.mask, c.from, c.b = i.Value, i.Mask, from, i.First
	if e.unexp.Len() > 0 {
		if id, ok := e.unexp.Find(c.value, c.mask); ok && !e.takeStoredInline(id) {
			e.DropInline()
			return false
		}
	}
	return true
}

// takeStoredInline receives a message of the unexpected store, and reports whether it did.
func (e *Engine) takeStoredInline(id int32) bool {
	c, m := &e.inline, e.unexp.At(id)
	if !copied(m) || len(m.Data) > len(c.b) {
		return false
	}
	c.live = false
	c.n = copy(c.b, m.Data)
	p := e.peers[m.Peer]
	e.classes.of(m.Match).receive(c.n)
	if e.recorder != nil {
		e.recordStored(id, 0)
	}
	e.unstore(id)
	e.feed(p)
	return true
}

// copied reports whether a copy is all that receiving a stored message takes.
func copied(m *unexpected.Message) bool {
	return storedKind(m.Kind) == storedEager && wire.Flags(m.Flags)&wire.Sync == 0
}

// InlinePending reports whether the inline receive has neither got a message nor been posted.
func (e *Engine) InlinePending() bool { return e.inline.live }

// DropInline forgets the inline receive, which is not posted.
func (e *Engine) DropInline() { e.inline.live, e.inline.b = false, nil }

// EndInline returns how many bytes were received inline, or else the request of the receive, which is posted now.
func (e *Engine) EndInline() (n int, h Handle, err error) {
	c := &e.inline
	if c.live {
		e.postInline()
	}
	c.b = nil
	return c.n, c.handle, c.err
}

// postInline posts the inline receive.
func (e *Engine) postInline() {
	c := &e.inline
	c.live, c.n = false, 0
	c.handle, c.err = e.Recv(&Posting{First: c.b, Value: c.value, Mask: c.mask}, &RecvOptions{Tied: true, From: c.from})
}

// arrive finds the receive for a message among those that are posted, and the inline receive.
func (e *Engine) arrive(p *peer, incoming uint64) (slot int32, ok bool) {
	slot, ok = e.match(p, incoming)
	if c := &e.inline; !ok && c.live && incoming&c.mask == c.value {
		e.postInline()
		return e.match(p, incoming)
	}
	return slot, ok
}

// takeInline receives an eager message inline if it matches and no more than a copy is needed, and reports whether it did.
// No posted receive matches the message.
func (e *Engine) takeInline(p *peer, h *wire.Header, payload []byte) bool {
	c := &e.inline
	if h.Match&c.mask != c.value || len(payload) > len(c.b) || h.Flags&wire.HasID != 0 {
		return false
	}
	c.live = false
	c.n = copy(c.b, payload)
	e.classes.over(p.medium, h.Match).receive(c.n)
	if e.recorder != nil {
		e.recorder.came(EventMatched, 0, p, h, c.n, 0)
	}
	return true
}
