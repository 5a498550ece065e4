package endpoint

import "gomx/transport/wire"

// Outgoing is a message that is to be sent. It is handed on by reference: as arguments its words would be stored anew
// in each function on the way. It has no field that an ordinary call leaves out, and no gap: such a call need not clear it before it
// sets them.
type Outgoing struct {
	First   []byte // its bytes, or the first segment of them
	To      Addr
	Match   uint64
	Context any // comes back in the status
}

// SendOptions are what most messages have no need of. nil is none.
type SendOptions struct {
	Rest  [][]byte // the segments behind the first
	Level Level    // when the send completes

	// Counter, unless it is Private, counts the send, which has no handle then. Send alone heeds it.
	Counter QueueID
}

var noSendOptions SendOptions

func (o *SendOptions) orNone() *SendOptions {
	if o == nil {
		return &noSendOptions
	}
	return o
}

// Send starts a send (V.1). The bytes must stay as they are until the request is buffered or complete. A small
// message to a connected peer leaves before anything else is done.
//
// The message of a peer that is gone or of another session does not fail the
// call: the request completes with the status that says so.
func (e *Engine) Send(o *Outgoing, opts *SendOptions) (Handle, error) {
	if e.recorder != nil {
		e.recorder.begin()
	}
	opts = opts.orNone()
	if opts.Level == BufferFree && len(opts.Rest) == 0 {
		if opts.Counter != Private {
			if e.SendNow(o.First, o.To, o.Match) {
				e.tick(e.queues[opts.Counter].counter, Success)
				return 0, nil
			}
		} else if p := e.launch(o.First, o.To, o.Match); p != nil {
			return e.launched(p, o), nil
		}
	}
	v := wire.Vec{First: o.First, Rest: opts.Rest}
	slot, r, err := e.outgoing(opts.Level.kind(), &v, o.To, o.Match, o.Context)
	if err != nil {
		return 0, err
	}
	if opts.Counter != Private {
		r.countedBy(opts.Counter)
	}
	e.sendSlow(e.peers[o.To.Peer], slot, r, v)
	return handleOf(slot, r.generation), nil
}

// launched makes the request of a send that has left already.
func (e *Engine) launched(p *peer, o *Outgoing) Handle {
	n := len(o.First)
	slot, r := e.reqs.alloc()
	r.kind, r.state, r.flags, r.code = kindSend, stateComplete, 0, Success // one store
	r.peer, r.session = o.To.Peer, o.To.Session
	r.match, r.msgLen, r.xferLen = o.Match, uint32(n), uint32(n)
	if o.Context != nil {
		r.ctx = o.Context
	}
	e.classes.over(p.medium, o.Match).send(n)
	if e.recorder != nil {
		e.recorder.sent(EventSent, p, o.Match, n, handleOf(slot, r.generation), false)
	}
	e.end(slot, r)
	return handleOf(slot, r.generation)
}

// outgoing makes the request of a send, put or get, after the checks.
func (e *Engine) outgoing(kind requestKind, v *wire.Vec, to Addr, match uint64, ctx any) (int32, *request, error) {
	n := v.Len()
	switch {
	case uint64(n) > MaxMessage:
		return 0, nil, ErrBadSegMem
	case len(v.Rest) >= MaxSegments:
		return 0, nil, ErrBadSegCount
	case !e.known(to):
		return 0, nil, ErrBadAddress
	}
	slot, r := e.reqs.alloc()
	r.kind, r.peer, r.session = kind, to.Peer, to.Session
	r.match, r.msgLen, r.xferLen, r.ctx = match, uint32(n), uint32(n), ctx
	return slot, r, nil
}

// sendSlow takes every send that can't leave at once.
func (e *Engine) sendSlow(p *peer, slot int32, r *request, v wire.Vec) {
	r.keep(v.First, v.Rest)
	r.state, r.started = stateQueued, e.begins()
	switch {
	case r.session != p.remote:
		e.fail(slot, r, BadSession)
	case p.vigil.givenUp:
		e.fail(slot, r, TimedOut)
	case e.local(p) && r.oneSided():
		e.accessSelf(p, slot, r)
	case e.local(p):
		e.sendSelf(p, slot, r)
	case p.index == 0 && p.link == nil:
		e.enqueue(p, slot, r)
		e.dial(p)
	case p.state == peerGone:
		e.fail(slot, r, p.goneCode)
	case p.state != peerConnected:
		e.fail(slot, r, BadSession)
	case p.queue.head != none || p.greetings.len() > 0 || p.mute() || p.control.len() > 0 && r.oneSided():
		e.enqueue(p, slot, r)
	default:
		switch e.transmit(p, slot, r) {
		case linkFull:
			e.enqueue(p, slot, r)
		case unpaid:
			e.awaitCredit(p, slot, r)
		}
	}
}

// fail ends a request of which nothing moves any more.
func (e *Engine) fail(slot int32, r *request, code Code) {
	r.xferLen = 0
	r.drop()
	e.complete(slot, r, code)
}

func (e *Engine) enqueue(p *peer, slot int32, r *request) {
	e.reqs.push(&p.queue, slot, r)
	p.fast = -1
	e.keepVigil(p)
	e.count.Queued++
	e.wait(p)
}

// transmitted is the outcome of an attempt to send.
type transmitted uint8

const (
	sent     transmitted = iota
	linkFull             // it has to wait for the link, or for puts and gets before it
	unpaid               // it has to wait for credit
)

func when(gone bool) transmitted {
	if gone {
		return sent
	}
	return linkFull
}

// transmit hands a queued send to the link, as an eager message or as the
// header of a rendezvous, or a put or get.
func (e *Engine) transmit(p *peer, slot int32, r *request) transmitted {
	switch {
	case r.oneSided():
		return when(e.transmitAccess(p, slot, r))
	case p.waiting.head != none:
		return unpaid // it must not overtake those
	}
	return e.transmitMessage(p, slot, r)
}

// transmitMessage sends a message as the credit permits: whole, as its header
// alone, or not now. The handler at the other side is to be shown the data of small
// ones, so that they go whole and are paid for as headers. One that costs no more than
// its header goes whole in any case: the peer may have a handler that we don't know of yet.
func (e *Engine) transmitMessage(p *peer, slot int32, r *request) transmitted {
	n := int(r.msgLen)
	small := n <= p.eagerLimit(e.cfg.EagerLimit)
	switch {
	case small && wire.Cost(n) <= p.credit.bytes:
		return when(e.transmitEager(p, slot, r, 0))
	case small && !p.dry && p.credit.bytes < p.level/2:
		return unpaid // so much is used that the peer grants more, or answers that it has none
	case small && n < AlwaysEager && (p.shows || wire.Headers(n) == 1):
		if wire.Headers(n) > p.credit.headers {
			return unpaid
		}
		return when(e.transmitEager(p, slot, r, wire.AsHeader))
	case p.credit.headers < 1:
		return unpaid
	case !e.transmitRendezvous(p, slot, r):
		return linkFull
	}
	if small {
		e.count.WithoutBytes++
	}
	return sent
}

// awaitCredit queues a send behind those that wait for credit. It is sent when credit has
// arrived. No other frame waits for it.
func (e *Engine) awaitCredit(p *peer, slot int32, r *request) {
	r.state = stateUnpaid
	if p.waiting.head == none {
		e.note(BackPressure, p, Success)
	}
	e.reqs.push(&p.waiting, slot, r)
	p.fast = -1
	e.expectAnswer(p, r)
	e.count.Waited++
}

// flushWaiting sends the messages that the credit suffices for. False: the link is full.
func (e *Engine) flushWaiting(p *peer) bool {
	for p.waiting.head != none {
		slot := p.waiting.head
		r := e.reqs.at(slot)
		e.reqs.remove(&p.waiting, r) // sending may end it, which puts it into another list
		h := handleOf(slot, r.generation)
		if what := e.transmitMessage(p, slot, r); what != sent {
			e.unshift(&p.waiting, slot, r)
			return what == unpaid
		}
		e.dropSent(h)
	}
	return true
}

// Flush moves on what waits for links, and begins what was triggered. The owner calls it after it polled.
func (e *Engine) Flush() {
	for i := 0; ; {
		if e.ready.head != none && !e.leaving {
			e.beginReady()
		}
		if i >= len(e.backlog) {
			return
		}
		p := e.peers[e.backlog[i]]
		if e.flushPeer(p) {
			p.inBacklog = false
			last := len(e.backlog) - 1
			e.backlog[i] = e.backlog[last]
			e.backlog = e.backlog[:last]
			continue
		}
		i++
	}
}

// Backlog reports whether Flush has anything to do.
func (e *Engine) Backlog() bool { return len(e.backlog) > 0 }

// wait puts the peer on the list of those that Flush looks at.
func (e *Engine) wait(p *peer) {
	if !p.inBacklog {
		p.inBacklog = true
		e.backlog = append(e.backlog, p.index)
	}
}

// flushPeer sends what waits for one peer, and reports whether all of it went.
func (e *Engine) flushPeer(p *peer) bool {
	if e.local(p) {
		return e.flushSelf(p)
	}
	if p.link == nil {
		return true // a link that comes up puts the peer on the backlog again
	}
	for p.greetings.len() > 0 {
		if !e.sendGreeting(p, p.greetings.front()) {
			return false
		}
		p.greetings.pop()
	}
	if p.heal != nil && !e.flushHealing(p) {
		return p.mute()
	}
	if e.leaving {
		return true // behind the goodbye it would be lost, though its request would be complete
	}
	if !e.flushControl(p) || !e.flushAnswers(p) {
		return e.waitsForAcks(p)
	}
	if !e.flushJobs(p) {
		return false
	}
	if !e.flushWaiting(p) {
		return e.waitsForAcks(p)
	}
	for p.queue.head != none {
		slot := p.queue.head
		r := e.reqs.at(slot)
		e.reqs.remove(&p.queue, r)
		h := handleOf(slot, r.generation)
		switch e.transmit(p, slot, r) {
		case linkFull:
			e.unshift(&p.queue, slot, r)
			return e.waitsForAcks(p) || p.outstandingFull()
		case unpaid:
			e.awaitCredit(p, slot, r)
		default:
			e.dropSent(h)
		}
	}
	p.refresh(e.cfg.EagerLimit)
	return true
}

// flushControl sends the frames without payload that wait, and reports whether all
// went.
func (e *Engine) flushControl(p *peer) bool {
	if p.control.len() == 0 {
		return true
	}
	for p.control.len() > 0 {
		e.header = *p.control.front()
		answer := e.header.Seq == isAnswer
		if !e.post(p, &e.header, nil, 0) {
			return false
		}
		p.control.pop()
		if answer {
			p.unanswered--
		}
	}
	if p.wantsCredit() {
		e.grant(p)
	}
	return true
}

// waitsForAcks reports whether it is acks, and not the link, that hold up the
// peer's frames. Their arrival puts it on the backlog again.
func (e *Engine) waitsForAcks(p *peer) bool { return p.log != nil && p.log.stuck }

// hasQueued reports whether frames wait for the peer's link that acks may hold up.
func (p *peer) hasQueued() bool {
	return p.queue.head != none || p.waiting.head != none || p.answers.head != none || p.control.len() > 0
}

// unshift puts a request back at the front of a queue.
func (e *Engine) unshift(l *list, slot int32, r *request) {
	r.prev, r.next = none, l.head
	if l.head == none {
		l.tail = slot
	} else {
		e.reqs.at(l.head).prev = slot
	}
	l.head = slot
}

// post sends one frame over the peer's link, through the reliability layer if
// the medium needs one. The frame's sequence number and session are filled in.
func (e *Engine) post(p *peer, h *wire.Header, v *wire.Vec, off int) bool {
	if p.rel != nil {
		return e.postUnreliable(p, h, v, off)
	}
	if p.heal != nil {
		return e.postHealing(p, h, v, off)
	}
	h.Session = p.remote
	if !h.Kind.Sequenced() {
		return p.link.Send(h, v, off)
	}
	h.Seq = p.sendSeq
	if !p.link.Send(h, v, off) {
		return false
	}
	p.sendSeq++
	return true
}

// control sends a frame without payload, now or when the link takes it.
func (e *Engine) control(p *peer, h wire.Header) {
	switch {
	case p.mute() && h.Kind == wire.PullRequest:
		return // asked again when the session resumes
	case p.link == nil && !p.broken():
		return
	}
	if p.control.len() == 0 && p.greetings.len() == 0 && !p.mute() {
		e.header = h
		if e.post(p, &e.header, nil, 0) {
			return
		}
	}
	if h.Seq == isAnswer {
		p.unanswered++
	}
	p.control.push(h)
	e.wait(p)
}
