package endpoint

import (
	"gomx/transport/wire"
	"gomx/unexpected"
)

// catch is a receive that is no request yet: its owner polls for a moment, and most messages that it waits for
// come then. It stands behind all receives that are posted, as one that is posted last. It becomes a
// request when a message comes that takes more than a copy, and when the owner does not wait any longer.
type catch struct {
	live        bool // neither a message nor a request yet
	value, mask uint64
	from        Addr
	b           []byte
	n           int // bytes that were caught
	handle      Handle
	err         error
}

// Catch begins to catch a message for a tied receive into one segment. False: that one is to be posted. Until EndCatch
// the owner may do nothing but poll. A message that waits already may have been caught.
func (e *Engine) Catch(i *Posting) bool {
	if i.Value&^i.Mask != 0 || e.cfg.ContextBits != 0 || e.handler || !e.direct(i.From) {
		return false
	}
	c := &e.catch
	c.live, c.handle, c.err = true, 0, nil
	c.value, c.mask, c.from, c.b = i.Value, i.Mask, i.From, i.Into.First
	if e.unexp.Len() > 0 {
		if id, ok := e.unexp.Find(c.value, c.mask); ok && !e.caughtStored(id) {
			e.StopCatching()
			return false
		}
	}
	return true
}

// caughtStored takes a message of the unexpected store, and reports whether it did.
func (e *Engine) caughtStored(id int32) bool {
	c, m := &e.catch, e.unexp.At(id)
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

// Catching reports whether there is still nothing: no message and no request.
func (e *Engine) Catching() bool { return e.catch.live }

// StopCatching ends the catch without a receive.
func (e *Engine) StopCatching() { e.catch.live, e.catch.b = false, nil }

// EndCatch returns how many bytes were caught, or else the request that the receive is.
func (e *Engine) EndCatch() (n int, h Handle, err error) {
	c := &e.catch
	if c.live {
		e.postCatch()
	}
	c.b = nil
	return c.n, c.handle, c.err
}

// postCatch makes a request of the receive.
func (e *Engine) postCatch() {
	c := &e.catch
	c.live, c.n = false, 0
	c.handle, c.err = e.Recv(&Posting{Into: wire.Vec{First: c.b}, Value: c.value, Mask: c.mask, Tied: true, From: c.from})
}

// arrive finds the receive for a message among those that are posted, and the one that catches.
func (e *Engine) arrive(incoming uint64) (slot int32, ok bool) {
	slot, ok = e.posted.Arrive(incoming)
	if c := &e.catch; !ok && c.live && incoming&c.mask == c.value {
		e.postCatch()
		return e.posted.Arrive(incoming)
	}
	return slot, ok
}

// caught takes an eager message that no posted receive is for, and reports whether it did.
func (e *Engine) caught(p *peer, h *wire.Header, payload []byte) bool {
	c := &e.catch
	if h.Match&c.mask != c.value || len(payload) > len(c.b) || h.Flags&wire.Sync != 0 {
		return false
	}
	c.live = false
	c.n = copy(c.b, payload)
	p.medium.receive(c.n)
	e.classes.of(h.Match).receive(c.n)
	if e.recorder != nil {
		e.recorder.came(EventMatched, 0, p, h, c.n, 0)
	}
	return true
}
