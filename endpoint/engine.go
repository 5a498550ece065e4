package endpoint

import (
	"cmp"

	"gomx/match"
	"gomx/transport/wire"
	"gomx/unexpected"
)

// Engine is the protocol state of one endpoint. It may not be used from two
// goroutines at once; see the package comment.
type Engine struct {
	cfg    Config
	host   Host
	now    Tick
	idle   bool // nobody moves now at the moment
	paused bool // progression is disabled (VIII.1)

	leaving bool // goodbyes have been said

	reqs      slab
	posted    match.Table
	directed  map[int32]int32 // of the posted receives, those for one peer; nil: there has been none
	unexp     *unexpected.Store
	done      doneList // the engine's own queue of completions
	queues    []doneList
	ended     uint64 // requests that have ended, in whichever way
	withdrawn uint64 // of those, cancelled or forgotten
	holding   int    // triggered operations whose trigger has not come
	ready     list   // those that Flush begins

	peers  []*peer
	byAddr map[address]int32

	strangers []int32 // oldest first
	freePeers []int32
	adm       admission

	pieceBytes int // reserved for messages in pieces
	pieceTurn  uint64

	handler  bool      // the host has an unexpected handler
	handling bool      // it runs
	read     Handle    // our own send whose memory it reads
	lostSelf bool      // and what was under way with ourselves has ended since it began
	arrivals []arrival // messages stored since TakeArrivals, if traced
	arrived  uint32
	claims   uint32 // messages that were claimed
	trace    bool
	probed   Status // scratch of TakeArrivals

	backlog  []int32 // peers with frames that wait for their link
	timers   timers
	incoming Incoming // what the handler is shown
	inline   inlineReceive
	classes  tallies

	mirror                int32     // the far end of a link to ourselves, or 0
	bytesPool, headerPool pool      // what peers may send
	denied                []address // the endpoints that our windows are not for
	pulls                 pullSlab
	windows               windows
	frames                framePool

	header  wire.Header // scratch for frames on their way out
	out     wire.Vec
	one     wire.Vec // scratch of launch; Rest stays empty
	bytes   []byte
	slots   []int32
	scratch [AlwaysEager]byte

	attempt uint32 // the last; it begins at random, so that no late reply to a former incarnation fits
	count   Counters
	media   []*Medium

	observer func(Note)           // nil: nobody
	recorder *Recorder            // nil: nothing is recorded
	fetched  [wire.MaxAtomic]byte // what was there before an atomic
}

type address struct {
	nic      uint64
	endpoint uint32
}

// New makes an engine. Peer 0 is the endpoint itself.
func New(cfg Config, host Host) *Engine {
	cfg.UnexpectedBytes = cmp.Or(cfg.UnexpectedBytes, DefaultUnexpectedBytes)
	cfg.UnexpectedHeaders = cmp.Or(cfg.UnexpectedHeaders, DefaultUnexpectedHeaders)
	cfg.UnexpectedReserve = cmp.Or(cfg.UnexpectedReserve, DefaultUnexpectedReserve)
	cfg.Strangers = cmp.Or(cfg.Strangers, DefaultStrangers)
	cfg.Backlog = cmp.Or(cfg.Backlog, DefaultBacklog)
	cfg.AnswerTimeout = cmp.Or(cfg.AnswerTimeout, DefaultAnswerTimeout)
	cfg.PieceBytes = cmp.Or(cfg.PieceBytes, DefaultPieceBytes)
	cfg.RequestTimeout = cmp.Or(cfg.RequestTimeout, DefaultRequestTimeout)
	e := &Engine{cfg: cfg, host: host, reqs: newSlab(), byAddr: map[address]int32{}, attempt: cfg.Session}
	e.classes.begin(cfg.ClassShift)
	e.unexp = unexpected.New(cfg.UnexpectedBytes)
	e.bytesPool, e.headerPool = newBytesPool(cfg.UnexpectedBytes, cfg.UnexpectedReserve), newHeaderPool(cfg.UnexpectedHeaders)
	e.done.reset()
	e.ready.reset()
	e.Reserve(e.OpenQueue()) // Private
	e.adm.waiting.reset()
	self := e.peers[e.PeerOf(cfg.NIC, cfg.Endpoint)]
	self.state, self.remote = peerConnected, self.local
	self.medium = e.mediumNamed("self")
	if cfg.SelfOverLink {
		e.reflect()
	}
	return e
}

// Self returns the endpoint's own address, valid for sends without connecting.
func (e *Engine) Self() Addr { return Addr{Peer: 0, Session: e.peers[0].remote} }

// Now returns the tick of the last Advance.
func (e *Engine) Now() Tick { return e.now }

// Frame takes a frame that arrived on a link of a peer. The payload may be used
// until Frame returns. False means that this pass is to bring no further frame: the inline receive has its message, or
// progression is off since then, and none may be brought until it is on again.
func (e *Engine) Frame(pi int32, h *wire.Header, payload []byte) bool {
	p := e.peers[pi]
	if h.Kind == wire.Eager && h.Seq == p.recvSeq && h.Session == p.local && p.direct && h.Flags&wire.AsHeader == 0 {
		if left := p.bytes.left - wire.Cost(len(payload)); left >= p.bytes.grantAt {
			if slot, ok := e.posted.Arrive(h.Match); ok {
				p.bytes.left = left
				p.recvSeq++
				e.receiveEager(p, slot, h, payload)
				return true
			}
			if e.inline.live && e.takeInline(p, h, payload) {
				p.bytes.left = left
				p.recvSeq++
				return e.posted.Len() != 0 // the rest would be unexpected, and the next inline receive finds it on the link
			}
		}
	}
	e.frame(p, h, payload)
	return !e.paused
}

// frame is Frame's general case.
func (e *Engine) frame(p *peer, h *wire.Header, payload []byte) {
	if e.local(p) {
		e.count.Malformed++ // nothing comes to ourselves over a link
		return
	}
	if p.state == peerStranger {
		e.strangerFrame(p, h, payload)
		return
	}
	switch h.Kind {
	case wire.Connect:
		e.arriveConnect(p, h, payload)
		return
	case wire.ConnectReply:
		e.arriveConnectReply(p, h, payload)
		return
	case wire.Nack:
		e.arriveNack(p, h)
		return
	case wire.Resume:
		e.arriveResume(p, h, payload)
		return
	}
	switch {
	case p.state != peerConnected || h.Session != p.local:
		e.refuse(p, h)
	case p.rel != nil:
		e.arriveUnreliable(p, h, payload)
	case p.log != nil && !e.arriveHealing(p, h):
	case !h.Kind.Sequenced():
		e.arriveControl(p, h, payload)
	case h.Seq != p.recvSeq:
		e.corrupt(p)
	case isPiece(h, payload):
		e.arrivePiece(p, h, payload)
	default:
		e.takeNext(p, h, payload)
	}
}

// takeNext accepts the next frame of a medium that keeps the order.
func (e *Engine) takeNext(p *peer, h *wire.Header, payload []byte) {
	session := p.local
	e.accept(p, h, payload)
	if p.local == session { // the handler may have disconnected
		p.recvSeq++
		if p.log != nil {
			e.scheduleAck(p, len(payload))
		}
	}
}

// accept takes a sequenced frame whose turn it is.
func (e *Engine) accept(p *peer, h *wire.Header, payload []byte) {
	switch h.Kind {
	case wire.Eager, wire.Rendezvous:
		e.arriveMessage(p, h, payload)
	case wire.Credit:
		e.arriveCredit(p, h)
	case wire.Put:
		e.arrivePut(p, h, payload)
	case wire.PutOffer:
		e.arrivePutOffer(p, h, payload)
	case wire.Get:
		e.arriveGet(p, h)
	case wire.GetData:
		e.arriveGetData(p, h, payload)
	case wire.GetOffer:
		e.arriveGetOffer(p, h, payload)
	case wire.Atomic:
		e.arriveAtomic(p, h, payload)
	case wire.AtomicData:
		e.arriveAtomicData(p, h, payload)
	default:
		e.arriveNotify(p, h)
	}
}

// arriveMessage takes a message, or its header, and the price of it.
func (e *Engine) arriveMessage(p *peer, h *wire.Header, payload []byte) {
	session := p.local
	if !e.charge(p, h, len(payload)) {
		return
	}
	if h.Kind == wire.Eager {
		e.arriveEager(p, h, payload)
	} else {
		e.arriveRendezvous(p, h, payload)
	}
	if p.local == session && p.wantsCredit() {
		e.grant(p)
	}
}

func (e *Engine) arriveControl(p *peer, h *wire.Header, payload []byte) {
	switch h.Kind {
	case wire.PullRequest:
		e.arrivePullRequest(p, h)
	case wire.PullData:
		h.Length = uint32(len(payload))
		e.takePullData(p, h, payload)
	case wire.Ack:
		e.arriveAsked(p, h)
	case wire.Bye:
		e.arriveBye(p, h)
	}
}

// corrupt gives up a link whose frames make no sense.
func (e *Engine) corrupt(p *peer) {
	e.count.Corrupt++
	e.giveUp(p)
}

// giveUp ends a peer's link, and its session with it.
func (e *Engine) giveUp(p *peer) {
	link := p.link
	e.loseLink(p, EndpointUnreachable)
	if link != nil {
		e.host.Drop(p.index, link, true)
	}
}

// Pause switches progression off or on (VIII.1.1). It is a switch, not a count.
// While it is off the owner must not call Frame, Flush or Advance. Of the frame whose
// handler switches it off Frame tells so.
func (e *Engine) Pause(off bool) {
	e.paused = off
	for _, p := range e.peers {
		p.refresh(e.cfg.EagerLimit)
		p.direct = p.direct && !off
	}
}

// Paused reports whether progression is off.
func (e *Engine) Paused() bool { return e.paused }

// SetHandler has unexpected messages shown to Host.Unexpected, or not. Peers are informed,
// so that small ones always come with their data. If a peer did not know yet, and sent
// only the header of a small message, the message counts as if it had come before, unless it is empty.
func (e *Engine) SetHandler(on bool) {
	if e.handler == on {
		return
	}
	e.handler = on
	for _, p := range e.peers {
		if p.state == peerConnected && !e.local(p) {
			e.credit(p, 0, 0)
		}
	}
}
