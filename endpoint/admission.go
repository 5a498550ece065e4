package endpoint

import (
	"slices"

	"gomx/transport/wire"
)

// Admission is who may begin a session with us, of those who have the filter: anybody, nobody, or those whom the owner
// accepts. In the last case a Connect that would begin a session is held as a connection request, which the owner takes
// and answers. A request is held once for each session that is offered, however often the Connect that asks for it is
// repeated, and answered once. While it is held, this side says so to the asking side.
//
//   - Accepting it takes the Connect through the same rules again, as if it had come just now. What is said with that
//     is kept with the session, and said to all who connect to the session while it lasts.
//   - A refusal is remembered for a while: the reply may be lost, and the Connect come again.
//   - A request ends without an answer with the link that it came over, or when the asking side gives it up.
//
// Whom this side itself is connecting to is admitted without being asked about, and so is a peer that goes on with
// a session. A stranger whose address is not known yet stays a stranger while his request is held.

// Defaults of the configuration, and bounds.
const (
	DefaultBacklog            = 128
	DefaultAnswerTimeout Tick = 60 * 1000

	heldAttempts = 16 // attempts at one session that are known while it is held
)

// admission is what an engine knows of who wants in.
type admission struct {
	asked   bool // the owner answers
	shut    bool // nobody may begin a session
	counter QueueID
	waiting list // requests that the owner has not taken
	live    int  // taken or not
	room    int  // for requests, and for refusals

	refusals []verdict // the latest, in a ring
	oldest   int
}

// visit is a Connect that is held.
type visit struct {
	h        wire.Header
	c        wire.ConnectInfo
	data     []byte
	attempts []uint32
	taken    bool // by the owner
}

// verdict is a refusal that is remembered.
type verdict struct {
	at       address
	session  uint32
	attempts []uint32
	code     Code
	data     []byte
}

// offer is a Connect on its way through the rules.
type offer struct {
	h        wire.Header
	c        wire.ConnectInfo
	data     []byte   // of the frame
	attempts []uint32 // of a stranger's that is held: those that have come
	admitted bool     // by the owner, or because we are connecting to the peer ourselves
	answer   []byte   // what is said with that
}

// Listen has the owner asked who may begin a session from now on. The counter that it returns counts the requests that come.
// False: it is asked already.
func (e *Engine) Listen() (QueueID, bool) {
	a := &e.adm
	if a.asked {
		return 0, false
	}
	a.asked, a.shut, a.counter = true, false, e.OpenCounter()
	a.makeRoom(e.cfg.Backlog)
	return a.counter, true
}

// ExpectCrowd has at least as many requests wait as there may be strangers, until the next Listen: the owner answers without delay, and
// a crowd that comes in one pass is no backlog.
func (e *Engine) ExpectCrowd() { e.adm.makeRoom(max(e.cfg.Backlog, e.cfg.Strangers)) }

// makeRoom sets how many requests may wait, and keeps as many of the latest refusals.
func (a *admission) makeRoom(n int) {
	a.refusals = slices.Concat(a.refusals[a.oldest:], a.refusals[:a.oldest])
	a.refusals, a.oldest, a.room = a.refusals[max(0, len(a.refusals)-n):], 0, n
}

// StopListening refuses all requests, and from now on, with shut, whoever wants to begin a session; without, nobody who has the filter.
func (e *Engine) StopListening(shut bool) {
	a := &e.adm
	a.shut = shut
	if !a.asked {
		return
	}
	a.asked = false
	e.eachRequest(func(slot int32, r *request) {
		if r.state == stateUndecided {
			e.turnDown(slot, r, NotListening, nil)
		}
	})
	e.CloseQueue(a.counter)
}

// admits reports whether a session may begin that a Connect asks for. If not, the Connect has been dealt with.
func (e *Engine) admits(p *peer, o *offer) bool {
	a := &e.adm
	if !a.asked && !a.shut || o.admitted || p.state == peerDialing && e.awaited(p) {
		return true
	}
	if v := a.refused(p.at, &o.c); v != nil {
		e.refusePeer(p, o.c.Session, []uint32{o.c.Attempt}, v.code, v.data)
		return false
	}
	switch v := e.visitOf(p); {
	case a.shut:
		e.refusePeer(p, o.c.Session, []uint32{o.c.Attempt}, NotListening, nil)
		return false
	case v != nil && v.c.Session == o.c.Session && !v.outdated(o):
		if !slices.Contains(v.attempts, o.c.Attempt) && len(v.attempts) < heldAttempts {
			v.attempts = append(v.attempts, o.c.Attempt)
		}
	case v != nil && v.c.Session == o.c.Session:
		attempts := v.attempts
		e.endVisit(p)
		v = e.review(p, o)
		v.attempts = append(v.attempts, attempts[max(0, len(attempts)+1-heldAttempts):]...)
	case v != nil:
		e.endVisit(p) // it has left the session that it offered before
		fallthrough
	default:
		if a.live >= a.room {
			e.count.Overfull++
			e.refusePeer(p, o.c.Session, []uint32{o.c.Attempt}, BacklogFull, nil)
			return false
		}
		e.review(p, o)
	}
	e.reply(p, o.c.Session, wire.ConnectInfo{Attempt: o.c.Attempt, Status: uint32(Pending)}, nil)
	return false
}

// outdated reports whether a later attempt says something else to the program: the earlier ones have been given up, or will
// be answered like that.
func (v *visit) outdated(o *offer) bool {
	return int32(o.c.Attempt-v.c.Attempt) > 0 && !slices.Equal(o.data, v.data)
}

// review makes a request of a Connect.
func (e *Engine) review(p *peer, o *offer) *visit {
	a := &e.adm
	slot, r := e.reqs.alloc()
	r.kind, r.state, r.flags, r.peer, r.session = kindVisit, stateUndecided, forgotten, p.index, o.c.Session
	r.match, r.msgLen, r.xferLen, r.started = 0, uint32(len(o.data)), 0, e.clock()
	v := &visit{h: o.h, c: o.c, data: slices.Clone(o.data), attempts: []uint32{o.c.Attempt}}
	r.ctx = v
	r.deadline = later(e.now, e.cfg.AnswerTimeout)
	e.watchRequest(slot, r)
	p.visit = handleOf(slot, r.generation)
	e.reqs.push(&a.waiting, slot, r)
	a.live++
	e.count.Requested++
	e.tick(e.queues[a.counter].counter, Success)
	return v
}

// visitOf returns the request of a peer or stranger that is held, or nil.
func (e *Engine) visitOf(p *peer) *visit {
	if p.visit == 0 {
		return nil
	}
	_, r := e.reqs.find(p.visit)
	return r.ctx.(*visit)
}

// endVisit takes away the request of a peer, if there is one.
func (e *Engine) endVisit(p *peer) {
	if p.visit == 0 {
		return
	}
	slot, r := e.reqs.find(p.visit)
	if !r.ctx.(*visit).taken {
		e.reqs.remove(&e.adm.waiting, r)
	}
	e.reqs.release(slot, r)
	p.visit = 0
	e.adm.live--
}

// turnDown refuses a request.
func (e *Engine) turnDown(slot int32, r *request, code Code, data []byte) {
	p, v := e.peers[r.peer], r.ctx.(*visit)
	e.endVisit(p)
	a := &e.adm
	w := verdict{p.at, v.c.Session, v.attempts, code, slices.Clone(data)}
	if len(a.refusals) < a.room {
		a.refusals = append(a.refusals, w)
	} else {
		a.refusals[a.oldest] = w
		a.oldest = (a.oldest + 1) % len(a.refusals)
	}
	e.refusePeer(p, v.c.Session, v.attempts, code, w.data)
}

// refused returns the refusal of an attempt that is remembered, or nil.
func (a *admission) refused(at address, c *wire.ConnectInfo) *verdict {
	for i := range a.refusals {
		if v := &a.refusals[i]; v.at == at && v.session == c.Session && slices.Contains(v.attempts, c.Attempt) {
			return v
		}
	}
	return nil
}

func (e *Engine) refusePeer(p *peer, session uint32, attempts []uint32, code Code, data []byte) {
	kind := TurnedDown
	if code == BadKey {
		kind = RefusedPeer
	}
	e.note(kind, p, code)
	for _, a := range attempts {
		e.reply(p, session, wire.ConnectInfo{Attempt: a, Status: uint32(code)}, data)
	}
}

// Visitor is a connection request, for the owner.
type Visitor struct {
	Handle   Handle
	NIC      uint64
	Endpoint uint32
	Data     []byte // the owner's to keep
}

// TakeVisitor returns the oldest request that has not been taken. It stays held until it is answered.
func (e *Engine) TakeVisitor() (v Visitor, ok bool) {
	slot := e.adm.waiting.head
	if slot == none {
		return v, false
	}
	r := e.reqs.at(slot)
	e.reqs.remove(&e.adm.waiting, r)
	held := r.ctx.(*visit)
	held.taken = true
	at := e.peers[r.peer].at
	return Visitor{handleOf(slot, r.generation), at.nic, at.endpoint, held.data}, true
}

// VisitorLink returns the link that a request came over, or nil if it is over.
func (e *Engine) VisitorLink(h Handle) wire.Link {
	if _, r := e.reqs.find(h); r != nil && r.state == stateUndecided {
		return e.peers[r.peer].link
	}
	return nil
}

// Accept accepts a connection request, with up to wire.MaxConnectData bytes for the asking side, and returns the address of the
// peer. ErrBadRequest: the request is over. Success, or why there is no session all the same.
func (e *Engine) Accept(h Handle, answer []byte) (Addr, Code, error) {
	_, r := e.reqs.find(h)
	if r == nil || r.state != stateUndecided {
		return Addr{}, 0, ErrBadRequest
	}
	p, v := e.peers[r.peer], r.ctx.(*visit)
	at := p.at
	e.endVisit(p)
	e.letIn(p, &offer{h: v.h, c: v.c, data: v.data, admitted: true, answer: slices.Clone(answer)})
	p = e.peers[e.PeerOf(at.nic, at.endpoint)]
	if p.state != peerConnected || p.remote != v.c.Session {
		return Addr{}, EndpointUnreachable, nil
	}
	for _, a := range v.attempts[1:] {
		e.reply(p, v.c.Session, wire.ConnectInfo{Attempt: a}, p.answer)
	}
	return Addr{p.index, p.remote}, Success, nil
}

// Refuse refuses a connection request, with data as Accept. ErrBadRequest: it is over.
func (e *Engine) Refuse(h Handle, answer []byte) error {
	slot, r := e.reqs.find(h)
	if r == nil || r.state != stateUndecided {
		return ErrBadRequest
	}
	e.turnDown(slot, r, Rejected, answer)
	return nil
}

// letIn takes a Connect that was accepted through the rules again.
func (e *Engine) letIn(p *peer, o *offer) {
	if p.state == peerStranger {
		e.claimWith(p, o)
	} else if p.link != nil {
		e.answerConnect(p, o)
	}
}

// admitAwaited accepts the requests of a peer that we are connecting to ourselves.
func (e *Engine) admitAwaited(of *peer) {
	if e.adm.live == 0 {
		return
	}
	e.eachRequest(func(_ int32, r *request) {
		if r.state != stateUndecided {
			return
		}
		if p := e.peers[r.peer]; p.at == of.at {
			v := r.ctx.(*visit)
			e.endVisit(p)
			e.letIn(p, &offer{h: v.h, c: v.c, data: v.data, admitted: true})
		}
	})
}

// What the connecting side does.

// underReview is the mask of a connect of which the peer has said that its program is asked.
const underReview = 1

func (r *request) underReview() bool { return r.kind == kindConnect && r.mask == underReview }

// connectData is what a connect carries for the program at the peer.
func (r *request) connectData() []byte {
	if len(r.vec.Rest) == 0 {
		return nil
	}
	return r.vec.Rest[0]
}

// heardAnswer puts the answer of the program at the peer into the buffer of the request.
func (r *request) heardAnswer(data []byte) {
	r.msgLen, r.xferLen = uint32(len(data)), uint32(copy(r.vec.First, data))
}

// giveUpConnect notes that a connect to p was given up. If the program at the peer has been asked, and nobody waits for its answer
// any more, the peer gets a nack.
func (e *Engine) giveUpConnect(p *peer, asked bool) {
	if asked && p.state == peerDialing && p.link != nil && !e.awaited(p) {
		e.nack(p, p.local)
	}
	e.undial(p)
}

// takeBack ends the request of a peer who offers its session no more.
func (e *Engine) takeBack(p *peer, h *wire.Header) bool {
	if v := e.visitOf(p); v != nil && v.c.Session == h.Session {
		e.endVisit(p)
		return true
	}
	return false
}

// UnderReview reports whether the peer has said that its program is asked about a connect that is pending.
func (e *Engine) UnderReview(peer int32) (asked bool) {
	e.eachConnect(e.peers[peer], func(_ int32, r *request) { asked = asked || r.underReview() })
	return asked
}

// Listens reports whether the owner is asked who may begin a session.
func (e *Engine) Listens() bool { return e.adm.asked }

// Visited reports whether a request waits that the owner has not taken.
func (e *Engine) Visited() bool { return e.adm.waiting.head != none }
