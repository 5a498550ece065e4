package endpoint

import (
	"fmt"

	"gomx/transport/wire"
)

// A triggered operation is a request like any other whose operation begins when a counter has counted so many
// successes. Until then it lies with the counter, in the order of the thresholds. Counting happens in the midst of all kinds of
// things, a frame that is being taken among them: what has reached its threshold becomes ready, and Flush begins
// it, which whoever makes passes calls for whatever waits. So it needs no call of the program.

// Trigger says when an operation begins: when a counter has counted so many successes. Failures don't count: what an
// operation has to wait for is not there if it has failed.
type Trigger struct {
	Counter QueueID
	At      uint64
}

// SendAt is Send that begins at a trigger. The bytes are read from then on.
func (e *Engine) SendAt(at Trigger, o *Outgoing, opts *SendOptions) (Handle, error) {
	opts = opts.orNone()
	v := wire.Vec{First: o.First, Rest: opts.Rest}
	slot, r, err := e.outgoing(opts.Level.kind(), &v, o.To, o.Match, o.Context)
	if err != nil {
		return 0, err
	}
	return e.hold(at, slot, r, v), nil
}

// PutAt is Put that begins at a trigger. The bytes are read from then on.
func (e *Engine) PutAt(at Trigger, v wire.Vec, to Addr, window uint64, offset uint32, match uint64, ctx any) (Handle, error) {
	return e.accessAt(at, kindPut, v, to, window, offset, match, ctx)
}

// GetAt is Get that begins at a trigger.
func (e *Engine) GetAt(at Trigger, v wire.Vec, from Addr, window uint64, offset uint32, match uint64, ctx any) (Handle, error) {
	return e.accessAt(at, kindGet, v, from, window, offset, match, ctx)
}

func (e *Engine) accessAt(at Trigger, kind requestKind, v wire.Vec, to Addr, window uint64, offset uint32, match uint64, ctx any) (Handle, error) {
	slot, r, err := e.outgoing(kind, &v, to, match, ctx)
	if err != nil {
		return 0, err
	}
	r.window, r.at = window, offset
	return e.hold(at, slot, r, v), nil
}

// AtomicAt is Atomic that begins at a trigger. The operands are read from then on.
func (e *Engine) AtomicAt(at Trigger, a wire.AtomicWhat, b []byte, to Addr, window uint64, offset uint32, match uint64, ctx any) (Handle, error) {
	slot, r, v, err := e.newAtomic(a, b, to, window, offset, match, ctx)
	if err != nil {
		return 0, err
	}
	return e.hold(at, slot, r, v), nil
}

// hold keeps an operation until its trigger, or begins it if that has come, behind others that are about to begin. One to a peer whose
// session is over ends at once.
func (e *Engine) hold(at Trigger, slot int32, r *request, v wire.Vec) Handle {
	h := handleOf(slot, r.generation)
	c, p := e.queues[at.Counter].counter, e.peers[r.peer]
	_, over := e.over(p, r.session)
	comes := c.successes < at.At
	if over || !comes && e.ready.head == none {
		e.sendSlow(p, slot, r, v)
		return h
	}
	r.keep(v.First, v.Rest)
	r.state, r.started = stateHeld, e.begins()
	r.mask, r.tied = at.At, int32(at.Counter)
	e.holding++
	if c.hold(&e.reqs, slot, r); !comes {
		e.fire(c)
	}
	return h
}

// Holds reports whether an operation waits for its trigger.
func (e *Engine) Holds() bool { return e.holding != 0 }

// hold puts a request behind those of the same threshold.
func (c *counter) hold(s *slab, slot int32, r *request) {
	after := c.held.tail
	for after != none && s.at(after).mask > r.mask {
		after = s.at(after).prev
	}
	s.insert(&c.held, after, slot, r)
	c.heldAt = s.at(c.held.head).mask
	c.foresee()
}

// fire makes ready what a counter has come to the threshold of.
func (e *Engine) fire(c *counter) {
	for c.heldAt <= c.successes {
		slot := c.held.head
		r := e.reqs.at(slot)
		e.takeHeld(c, r)
		r.state = stateReady
		e.reqs.push(&e.ready, slot, r)
	}
	e.wait(e.peers[0]) // so that Flush is called
}

// takeHeld takes a request from its counter.
func (e *Engine) takeHeld(c *counter, r *request) {
	e.reqs.remove(&c.held, r)
	e.holding--
	if c.heldAt = noThreshold; c.held.head != none {
		c.heldAt = e.reqs.at(c.held.head).mask
	}
}

// beginReady begins what is ready. Operations that end at once make others ready, each of them once.
func (e *Engine) beginReady() {
	for e.ready.head != none {
		slot := e.ready.head
		r := e.reqs.at(slot)
		e.reqs.remove(&e.ready, r)
		e.sendSlow(e.peers[r.peer], slot, r, r.vec)
	}
}

// Triggered reports whether operations are ready that only Flush begins.
func (e *Engine) Triggered() bool { return e.ready.head != none }

// unhold takes a request back whose operation has not begun.
func (e *Engine) unhold(r *request) {
	if r.state == stateHeld {
		e.takeHeld(e.queues[r.tied].counter, r)
	} else {
		e.reqs.remove(&e.ready, r)
	}
}

// unbegun reports whether the operation of a request has not begun, since its trigger has not come, or just now.
func (r *request) unbegun() bool { return r.state == stateHeld || r.state == stateReady }

// endHeld ends the operations that wait for a counter.
func (e *Engine) endHeld(c *counter, code Code) {
	for c.held.head != none {
		slot := c.held.head
		r := e.reqs.at(slot)
		e.takeHeld(c, r)
		e.fail(slot, r, code)
	}
}

// heldFor says what a triggered operation waits for.
func (e *Engine) heldFor(r *request) string {
	if r.state == stateReady {
		return "begins"
	}
	c := e.queues[r.tied].counter
	s := fmt.Sprintf("begins when counter %d comes to %d: it is at %d", r.tied, r.mask, c.successes)
	if c.failures > 0 {
		s += fmt.Sprintf(", and %d have failed", c.failures)
	}
	return s
}
