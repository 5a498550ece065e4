package endpoint

import (
	"gomx/match"
	"gomx/transport/wire"
)

// Claim names a message of the unexpected store that was taken out of matching. Zero is
// none. It is stale once the message was received.
type Claim uint64

func claimOf(id int32, number uint32) Claim { return Claim(uint64(number)<<32 | uint64(uint32(id))) }

func (c Claim) id() int32      { return int32(uint32(c)) }
func (c Claim) number() uint32 { return uint32(c >> 32) }

// Claim is Probe, and takes the message out of the sight of receives and probes:
// RecvClaimed receives it. Until then it keeps its place in the store. What ends the
// session of its sender, and leaves other messages receivable, leaves this one too.
func (e *Engine) Claim(value, mask uint64, st *Status) (Claim, bool, error) {
	if !match.Valid(value, mask) {
		return 0, false, ErrBadMask
	}
	id, ok := e.unexp.Find(value, mask)
	if !ok {
		return 0, false, nil
	}
	e.probeStatus(id, st)
	e.unexp.Claim(id)
	e.claims++
	e.unexp.At(id).Seq = e.claims
	return claimOf(id, e.claims), true, nil
}

// RecvClaimed receives a claimed message into v. If its bytes are still with a sender
// whose session has ended, the request completes with the status that says so.
func (e *Engine) RecvClaimed(v wire.Vec, c Claim, ctx any) (Handle, error) {
	if len(v.Rest) >= MaxSegments {
		return 0, ErrBadSegCount
	}
	id := c.id()
	if !e.unexp.Claimed(id) || e.unexp.At(id).Seq != c.number() {
		return 0, ErrBadRequest
	}
	slot, r := e.reqs.alloc()
	r.kind, r.state = kindRecv, statePosted
	r.keep(v.First, v.Rest)
	r.ctx, r.started = ctx, e.begins()
	h := handleOf(slot, r.generation)
	e.receiveStored(slot, r, id)
	return h, nil
}

// Discard receives all messages of the unexpected store that fit into nothing, and returns how many there were. No tally counts them as
// received.
func (e *Engine) Discard(value, mask uint64) (n int, err error) {
	for {
		var st Status
		c, found, err := e.Claim(value, mask, &st)
		if !found {
			return n, err
		}
		n++
		class := st.Match >> e.classes.shift
		counted := *e.tally(class)
		h, err := e.RecvClaimed(wire.Vec{}, c, nil)
		*e.tally(class) = counted
		if err != nil {
			return n, err
		}
		if err := e.Forget(h); err != nil {
			return n, err
		}
	}
}
