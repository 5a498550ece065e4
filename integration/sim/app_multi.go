package sim

import (
	"fmt"

	"gomx/endpoint"
)

// multiPosts is how many numbers of receives a multi-receive has: one for each place in its buffer.
const multiPosts = 1 << 15

const placeUnit = 8

// postMulti posts a receive for many messages, if the plan has some.
func (n *node) postMulti(o *op) bool {
	if n.w.plan.Multi == 0 || o.scope == scopeOne || n.rng.IntN(100) >= n.w.plan.Multi {
		return false
	}
	room := classSizes[n.widest()]
	n.receives++
	o.post, o.multi = n.posts+1, true
	n.posts += multiPosts
	o.buffer = n.w.buffers.take(room)
	var err error
	o.handle, err = n.engine.RecvMulti(o.buffer.bytes(), uint32(n.rng.IntN(room+1)), o.value, o.mask, n.queue, o)
	if err != nil {
		n.w.fail(n, "multi-receive: %v", err)
	}
	return true
}

// receivedPart checks a message that has come into a multi-receive.
func (n *node) receivedPart(o *op, message []byte, st *endpoint.Status) error {
	if !o.multi {
		return fmt.Errorf("a part of what is no multi-receive: %+v", *st)
	}
	at, scope := o.buffer.placeOf(message), o.scope
	if at < 0 {
		return fmt.Errorf("a message of %d bytes lies outside of its multi-receive, or at no multiple of %d", len(message), placeUnit)
	}
	if len(message) == 0 {
		scope = scopeOne // its place is not known, and so not its order
	}
	if at/placeUnit >= multiPosts {
		return fmt.Errorf("place %d of a multi-receive has no number", at)
	}
	left := o.buffer.size - at
	if len(message) == 0 && st.Code == endpoint.Truncated {
		left = 0
	}
	return n.receivedAt(o, message, left, o.post+uint32(at/placeUnit), scope, st)
}

// placeOf returns where a message lies in the buffer, or -1; of an empty one 0.
func (b *buffer) placeOf(message []byte) int {
	if len(message) == 0 {
		return 0
	}
	for at := 0; at+len(message) <= b.size; at += placeUnit {
		if &b.mem[at] == &message[0] {
			return at
		}
	}
	return -1
}
