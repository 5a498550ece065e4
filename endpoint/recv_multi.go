package endpoint

import (
	"gomx/match"
	"gomx/transport/wire"
)

// A multi-receive is one buffer for many messages. It keeps its place among the posted receives, and each
// message that it matches becomes a part, for a piece of the buffer. A part that has to wait for its bytes is a request
// meanwhile. What is left of each in the end is an announcement in the queue of the multi-receive, which itself
// completes when its room is used up and all parts have ended.

// partAlign is what the places of parts are multiples of.
const partAlign = 8

// RecvMulti posts a receive for many messages into buf, which is given back, by its completion in q, when fewer than least bytes of it are left.
// A message that is longer than what is left is truncated.
func (e *Engine) RecvMulti(buf []byte, least uint32, value, mask uint64, q QueueID, ctx any) (Handle, error) {
	switch {
	case !match.Valid(value, mask):
		return 0, ErrBadMask
	case mask&e.cfg.contextMask() != e.cfg.contextMask():
		return 0, ErrBadContextMask
	case uint64(len(buf)) > MaxMessage, len(buf) == 0, uint64(least) > uint64(len(buf)):
		return 0, ErrBadSegMem
	}
	slot, r := e.reqs.alloc()
	r.kind, r.state, r.flags, r.queue = kindRecvMulti, stateSpent, queued, q // spent: not posted yet
	r.vec.First, r.at, r.remote, r.window = buf, 0, uint64(max(least, 1)), 0
	r.match, r.mask, r.ctx, r.started = value, mask, ctx, e.begins()
	r.peer, r.session, r.msgLen, r.xferLen = 0, e.peers[0].remote, 0, 0
	h := handleOf(slot, r.generation)
	for r.hasRoom() && e.unexp.Len() > 0 {
		id, ok := e.unexp.Find(value, mask)
		if !ok {
			break
		}
		part, p := e.partOf(slot, r, e.unexp.At(id).Length)
		e.receiveStored(part, p, id)
	}
	if r.hasRoom() {
		r.state = statePosted
		e.posted.PostMany(slot, value, mask)
	} else {
		e.endMulti(slot, r)
	}
	return h, nil
}

// hasRoom reports whether a multi-receive takes more messages. r.at is where the next one goes, and r.remote the least that is wanted.
func (r *request) hasRoom() bool { return uint64(r.at)+r.remote <= uint64(len(r.vec.First)) }

// partOf makes the receive of a message that a multi-receive has matched.
func (e *Engine) partOf(slot int32, m *request, length uint32) (int32, *request) {
	at := min(uint64(m.at)+uint64(length), uint64(len(m.vec.First)))
	part, r := e.reqs.alloc()
	r.kind, r.state, r.flags, r.queue = kindPart, statePosted, queued, m.queue
	r.vec.First = m.vec.First[m.at:at:at]
	r.window = uint64(handleOf(slot, m.generation))
	r.ctx, r.started = m.ctx, e.now
	m.window++
	m.reach(at)
	if m.state == statePosted && !m.hasRoom() {
		e.retire(slot, m)
	}
	return part, r
}

// receivePart receives a whole message into a multi-receive, as nearly all that it matches are received: the part is never a
// request. It returns false if the message needs more than that, or the queue more room.
func (e *Engine) receivePart(p *peer, slot int32, m *request, h *wire.Header, payload []byte) bool {
	q, end := &e.queues[m.queue], uint64(m.at)+uint64(len(payload))
	if end > uint64(len(m.vec.First)) || h.Flags&wire.HasID != 0 || q.counter != nil || q.announced.full() || e.recorder != nil {
		return false
	}
	a := q.announced.add()
	a.message = m.vec.First[m.at:end:end]
	wire.CopyBytes(a.message, payload)
	a.multi = handleOf(slot, m.generation)
	st, n := &a.status, uint32(len(payload))
	st.MsgLength, st.XferLength, st.Match, st.Code = n, n, h.Match, Success
	st.Source = Addr{e.shown(p.index), p.remote}
	if m.ctx != nil {
		st.Context = m.ctx
	}
	e.classes.over(p.medium, h.Match).receive(len(payload))
	e.ended++
	m.reach(end)
	if !m.hasRoom() {
		e.retire(slot, m)
		e.endMulti(slot, m)
	}
	return true
}

// reach notes that a message lies in a multi-receive up to end. An empty one takes room, too: the buffer bounds how many announcements
// there can be, of a peer that sends nothing else, as the sender gets its room in the eager window back.
func (r *request) reach(end uint64) {
	room := uint64(len(r.vec.First))
	end = min(max(end, uint64(r.at)+1), room)
	r.xferLen = uint32(end)
	r.at = uint32(min((end+partAlign-1)/partAlign*partAlign, room))
}

// announcePart has the queue of a part that has ended tell of it, in the place of the part's request.
func (e *Engine) announcePart(slot int32, r *request) {
	of, ring := Handle(r.window), &e.queues[r.queue].announced
	if ring.full() {
		ring.grow()
	}
	a := ring.add()
	a.message = r.vec.First[:r.xferLen]
	a.multi = of
	a.status = Status{r.code, Addr{e.shown(r.peer), r.session}, r.match, r.msgLen, r.xferLen, r.ctx}
	e.reqs.release(slot, r)
	e.endPart(of)
}

// endPart notes that a part of a multi-receive has ended, which ends with the last one.
func (e *Engine) endPart(of Handle) {
	if slot, m := e.reqs.find(of); m != nil {
		m.window--
		e.endMulti(slot, m)
	}
}

// endMulti completes a multi-receive that takes no more messages and whose parts have all ended.
func (e *Engine) endMulti(slot int32, m *request) {
	if m.state == stateSpent && m.window == 0 && !m.hasRoom() {
		m.msgLen = m.xferLen
		e.complete(slot, m, Success)
	}
}

// closeMulti ends a multi-receive whose queue is closed: parts that are under way end untold, and the buffer is given back after them.
func (e *Engine) closeMulti(slot int32, r *request) {
	switch {
	case r.kind == kindPart:
		r.flags |= forgotten
	case r.kind == kindRecvMulti && r.state == statePosted:
		e.retire(slot, r)
		e.endMulti(slot, r)
	}
}

// retire has a multi-receive take no more messages.
func (e *Engine) retire(slot int32, m *request) {
	e.posted.Cancel(slot)
	m.state, m.remote = stateSpent, 1<<32 // more than any buffer has
}

// receives reports whether a request gets a message.
func (r *request) receives() bool { return r.kind == kindRecv || r.kind == kindPart }
