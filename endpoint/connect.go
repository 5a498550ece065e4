package endpoint

import (
	"math"
	"slices"

	"gomx/transport/wire"
)

// A session is a pair of numbers, one of each side. A side bumps its number
// whenever a session ends and enters each of its numbers into one session only,
// so that no frame of an old session is ever taken for one of a new session.
//
// Connect says in its payload the number that the asking side offers, and in its
// header the last number of the other side that it knows, with Match 1 if it is
// connected with that and 0 if that session has ended. The reply repeats the
// offered number in its header, so that an old reply is known.
const (
	connectRetry     Tick = 50   // over media that lose frames: ask again
	connectRetrySafe Tick = 1000 // over reliable media, where a Connect is lost only with its link
)

const stillConnected = 1

// overCode is the status of a reply that refuses a session number because the
// replying side has already ended a session under it. Its Filter is the last
// number that the replying side knows; the next offer must be beyond it.
const overCode = BadSession

// Iconnect asks the peer whether it takes us with this filter (IV.3). The
// request completes with Success and the peer's address as Source, or with the
// status that says why not. A connect to a connected peer checks the filter
// anew and leaves the session as it is.
func (e *Engine) Iconnect(nic uint64, endpoint uint32, filter uint32, match uint64, ctx any) Handle {
	return e.Call(&Calling{NIC: nic, Endpoint: endpoint, Filter: filter, Match: match, Context: ctx})
}

// Calling is a connect that is to be made.
type Calling struct {
	NIC              uint64
	Endpoint, Filter uint32
	Data             []byte // for the program at the peer, of up to wire.MaxConnectData bytes
	Answer           []byte // takes what that answers: the status has its length, and how much of it came
	Match            uint64
	Context          any
}

// Call is Iconnect with data.
func (e *Engine) Call(c *Calling) Handle {
	p := e.peers[e.PeerOf(c.NIC, c.Endpoint)]
	if p.vigil.givenUp {
		e.abandonPeer(p) // what still arrives is of a session that the program has left
	}
	slot, r := e.reqs.alloc()
	r.kind, r.state, r.peer, r.session = kindConnect, stateWaiting, p.index, 0
	r.match, r.msgLen, r.xferLen, r.ctx = c.Match, 0, 0, c.Context
	r.at, r.started, r.mask = c.Filter, e.clock(), 0
	if len(c.Data)+len(c.Answer) > 0 {
		r.keep(c.Answer, [][]byte{slices.Clone(c.Data)})
	}
	e.attempt++
	r.remote = uint64(e.attempt)
	h := handleOf(slot, r.generation)
	if p.index == 0 {
		e.connectSelf(slot, r)
		return h
	}
	r.deadline = later(e.now, e.cfg.RequestTimeout)
	e.watchRequest(slot, r)
	if p.state != peerConnected {
		p.state = peerDialing
	}
	e.admitAwaited(p)
	if p.link != nil {
		e.askPeer(p, r)
	} else {
		p.anew = p.dialled
		e.dial(p)
	}
	return h
}

func (e *Engine) connectSelf(slot int32, r *request) {
	code := Success
	if r.at != e.cfg.Filter {
		code = BadKey
	}
	r.session = e.peers[0].remote
	e.complete(slot, r, code)
}

// askPeer sends the Connect frame of one request.
func (e *Engine) askPeer(p *peer, r *request) {
	h := wire.Header{Kind: wire.Connect, Session: p.remote}
	if p.state == peerConnected {
		h.Match = stillConnected
	}
	e.sendConnect(p, h, wire.ConnectInfo{Filter: r.at, Attempt: uint32(r.remote)}, r.connectData())
	again := connectRetrySafe
	if p.rel != nil && !r.underReview() {
		again = connectRetry
	}
	p.asking, p.askAt, p.linkAsked = true, e.clock()+again, true
	e.watchPeer(p)
}

// askSoon has the pending connects asked again at the next tick. Not at once, or
// two sides that misunderstand each other would do nothing else.
func (e *Engine) askSoon(p *peer) {
	if p.asking {
		p.askAt = e.now + 1
		e.watchPeer(p)
	}
}

// askAll asks for all connects to p, and reports whether there are any.
func (e *Engine) askAll(p *peer) bool {
	p.asking = false
	e.eachConnect(p, func(_ int32, r *request) {
		if p.state != peerConnected {
			p.state = peerDialing
		}
		e.askPeer(p, r)
	})
	return p.asking
}

func (e *Engine) reply(p *peer, offered uint32, c wire.ConnectInfo, data []byte) {
	e.sendConnect(p, wire.Header{Kind: wire.ConnectReply, Session: offered}, c, data)
}

// replyOver says that the number which is offered is over: the next offer must be beyond it, and beyond the last one known.
func (e *Engine) replyOver(p *peer, o *offer, known uint32) {
	e.reply(p, o.c.Session, wire.ConnectInfo{Attempt: o.c.Attempt, Status: uint32(overCode), Filter: known}, nil)
}

func (e *Engine) sendConnect(p *peer, h wire.Header, c wire.ConnectInfo, data []byte) {
	c.Version, c.Session = wire.Version, p.local
	c.NIC, c.Endpoint = e.cfg.NIC, e.cfg.Endpoint
	c.EagerMax = MaxMessage
	if e.cfg.CopyLimit >= 0 {
		c.EagerMax = uint32(min(uint64(e.cfg.CopyLimit), MaxMessage))
	}
	first := e.firstCredits()
	c.Bytes, c.Headers, c.Shows = uint32(first.bytes), uint32(first.headers), uint32(e.shows())
	if c.Status == 0 {
		c.Token = e.give(p)
	}
	c.Contexts = e.cfg.Contexts
	h.Length = uint32(c.Size() + len(data))
	e.greet(p, greeting{h, c, data})
}

// eachConnect calls f for each pending connect to p.
func (e *Engine) eachConnect(p *peer, f func(int32, *request)) {
	e.eachRequest(func(slot int32, r *request) {
		if r.kind == kindConnect && r.state == stateWaiting && r.peer == p.index {
			f(slot, r)
		}
	})
}

// eachRequest calls f for each request. Completing or releasing requests
// meanwhile does no harm.
func (e *Engine) eachRequest(f func(int32, *request)) {
	for c := range e.reqs.chunks {
		for i := range e.reqs.chunks[c] {
			if r := &e.reqs.chunks[c][i]; r.state != stateFree {
				f(int32(c*chunkLen+i), r)
			}
		}
	}
}

// arriveConnect answers a peer that wants to talk.
func (e *Engine) arriveConnect(p *peer, h *wire.Header, payload []byte) {
	if o := (offer{h: *h}); e.asks(p, payload, &o) {
		e.answerConnect(p, &o)
	}
}

// asks reads a Connect of a peer or a stranger. False: there is nothing more to do. A wrong filter is answered, and
// changes nothing but the counter.
func (e *Engine) asks(p *peer, payload []byte, o *offer) bool {
	c, data, ok := parseConnect(payload)
	switch {
	case !ok || c.NIC != p.at.nic || c.Endpoint != p.at.endpoint:
		e.count.Malformed++
	case c.Filter != e.cfg.Filter:
		e.count.BadFilter++
		e.refusePeer(p, c.Session, []uint32{c.Attempt}, BadKey, nil)
	default:
		o.c, o.data = c, data
		return true
	}
	return false
}

// parseConnect decodes a Connect or ConnectReply and finds its data.
func parseConnect(payload []byte) (c wire.ConnectInfo, data []byte, ok bool) {
	c, err := wire.ParseConnect(payload)
	if err != nil || c.Session == 0 {
		return c, nil, false
	}
	data, ok = wire.ConnectData(payload)
	return c, data, ok
}

// answerConnect answers a connect with the right filter.
func (e *Engine) answerConnect(p *peer, o *offer) {
	h, c := &o.h, &o.c
	reply := wire.ConnectInfo{Attempt: c.Attempt}
	var data []byte
	connected := h.Match == stillConnected
	if !connected {
		e.passOver(p, h.Session)
	}
	switch {
	case p.state == peerConnected && c.Session == p.remote:
		e.beginsOnlyNow(p)
		data = p.answer
	case p.ended(c.Session):
		e.replyOver(p, o, p.remote)
		return
	case p.state != peerConnected && connected && h.Session != p.local:
		e.nack(p, h.Session) // it has not noticed that the session ended
		return
	case e.overfull(p):
		reply.Status = uint32(NoResources) // what it sent before must be received first
	case !e.admits(p, o):
		return
	default:
		e.enter(p, c)
		p.answer, data = o.answer, o.answer
	}
	e.reply(p, c.Session, reply, data)
}

// beginsOnlyNow goes on with a session without the peer's Resume, if that has not come before what the peer says of the
// session over this link: then it has entered the session over this link, since our reply was lost with the one before, and has
// received nothing yet.
func (e *Engine) beginsOnlyNow(p *peer) {
	if p.heal != nil && p.heal.resuming && p.log.base == p.local {
		e.resumeFrom(p, p.local)
	}
}

// passOver skips our session numbers up to a number that the peer knows from a session
// that it has left.
func (e *Engine) passOver(p *peer, session uint32) {
	if session == 0 || session-p.local >= ancient {
		return
	}
	if p.state == peerConnected {
		e.failPeer(p, BadSession, true)
	}
	p.local = session
	p.renew()
}

// ended reports whether the peer's session number belongs to a session that
// this side has entered and left, or to an even older one.
func (p *peer) ended(session uint32) bool {
	age := p.remote - session
	if p.remote == 0 || age >= ancient {
		return false
	}
	return age > 0 || p.state != peerConnected
}

// Session numbers of one incarnation of a peer grow by one at a time, those of
// another are anywhere.
const ancient = 1 << 10

func sameIncarnation(a, b uint32) bool { return a-b+ancient < 2*ancient }

// enter begins the session that the peer has offered. The peer has never seen our own
// number in another session.
func (e *Engine) enter(p *peer, c *wire.ConnectInfo) {
	if p.state == peerConnected {
		e.failPeer(p, BadSession, true)
	}
	if p.next != nil && p.remote != 0 && !sameIncarnation(c.Session, p.remote) {
		old := p.link // that of a process which is gone, dead or about to be
		e.attach(p, p.next, false)
		e.host.Drop(p.index, old, false)
	}
	p.shown, p.shows, p.contexts = c.Token, c.Shows != 0, c.Contexts
	p.denied = e.denies(p)
	e.begin(p, c.Session, int(min(c.EagerMax, math.MaxInt32)), credits{int(c.Bytes), int(c.Headers)})
}

func (e *Engine) arriveConnectReply(p *peer, h *wire.Header, payload []byte) {
	c, data, ok := parseConnect(payload)
	if !ok {
		e.count.Malformed++
		return
	}
	slot, r := e.attemptOf(p, c.Attempt)
	if c.Status == 0 && h.Session == p.local && p.state == peerConnected && c.Session == p.remote {
		e.beginsOnlyNow(p) // whoever still waits for the reply
	}
	switch {
	case c.Status == uint32(overCode):
		if h.Session == p.local { // else it is late, and may name the session which both are in
			e.endSession(p)
			e.passOver(p, c.Filter)
		}
		e.askSoon(p)
	case r == nil:
		e.count.Stale++
	case c.Status == uint32(Pending):
		r.mask = underReview
	case c.Status != 0:
		r.heardAnswer(data)
		e.complete(slot, r, refusal(c.Status))
		e.undial(p)
	case h.Session != p.local:
		e.askSoon(p) // the answer to a session that has ended since
	case p.state == peerConnected && c.Session == p.remote:
		r.heardAnswer(data)
		e.connected(p, slot, r)
	case p.ended(c.Session):
		// The peer is in a session with us that we have left: it must learn that.
		e.reply(p, c.Session, wire.ConnectInfo{Status: uint32(overCode), Filter: p.remote}, nil)
		e.askSoon(p)
	case p.state == peerConnected:
		// The peer has left the session that our number is in, and begun another with it: an old connect came between.
		// Frames of the first would fit the second, so neither goes on.
		e.endSession(p)
		e.askSoon(p)
	default:
		e.enter(p, &c)
		r.heardAnswer(data)
		e.connected(p, slot, r)
	}
	if c.Status == uint32(BadKey) && p.state != peerConnected && !e.awaited(p) {
		e.unclaim(p)
	}
}

func (e *Engine) connected(p *peer, slot int32, r *request) {
	r.session = p.remote
	e.complete(slot, r, Success)
	e.undial(p)
}

// refusal makes a status of what a peer says. It can't be one of success.
func refusal(status uint32) Code {
	switch c := Code(status); {
	case status > uint32(lastCode), c < Rejected, c == Truncated, c > NoResources && c < NotAnswered:
		return Rejected
	default:
		return c
	}
}

// attemptOf returns the pending connect to p that the peer answers.
func (e *Engine) attemptOf(p *peer, attempt uint32) (slot int32, r *request) {
	slot = none
	e.eachConnect(p, func(s int32, c *request) {
		if uint32(c.remote) == attempt {
			slot, r = s, c
		}
	})
	return slot, r
}

// endSession leaves the session, if there is one, because the peer has.
func (e *Engine) endSession(p *peer) {
	if p.state == peerConnected {
		e.failPeer(p, BadSession, false)
	} else {
		p.renew()
	}
}

// undial notes that a connect to p has ended, which may have been the last one.
func (e *Engine) undial(p *peer) {
	if !p.asking && p.state != peerDialing || e.awaited(p) {
		return
	}
	p.asking = false
	switch {
	case p.state != peerDialing:
	case p.remote != 0:
		p.state = peerGone
	default:
		p.state = peerAbsent
	}
}
