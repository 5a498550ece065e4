package endpoint

import (
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
	paused bool // progression is disabled (VIII.1)

	reqs   slab
	posted match.Table
	unexp  *unexpected.Store
	done   doneList // the engine's own queue of completions
	queues []doneList
	ended  uint64 // requests that have ended, in whichever way

	peers  []*peer
	byAddr map[address]int32

	handler  bool      // the host has an unexpected handler
	handling bool      // it runs
	arrivals []arrival // messages stored since TakeArrivals, if traced
	arrived  uint32
	claims   uint32 // messages that were claimed
	trace    bool

	backlog  []int32 // peers with frames that wait for their link
	timers   timers
	incoming Incoming // what the handler is shown
	catch    catch

	mirror    int32 // the far end of a link to ourselves, or 0
	holdsBack int   // peers that we have throttled
	pulls     pullSlab
	windows   windows
	frames    framePool

	header  wire.Header // scratch for frames on their way out
	out     wire.Vec
	one     wire.Vec // scratch of SendOne; Rest stays empty
	bytes   []byte
	scratch [AlwaysEager]byte

	attempt uint32
	count   Counters
	media   []*Medium
}

type address struct {
	nic      uint64
	endpoint uint32
}

// New makes an engine. Peer 0 is the endpoint itself.
func New(cfg Config, host Host) *Engine {
	if cfg.Session == 0 {
		cfg.Session = 1
	}
	if cfg.UnexpectedBytes == 0 {
		cfg.UnexpectedBytes = DefaultUnexpectedBytes
	}
	if cfg.RequestTimeout == 0 {
		cfg.RequestTimeout = DefaultRequestTimeout
	}
	e := &Engine{cfg: cfg, host: host, reqs: newSlab(), byAddr: map[address]int32{}}
	e.unexp = unexpected.New(cfg.UnexpectedBytes)
	e.done.reset()
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
// until Frame returns. False means that the frame can't be taken now and must be
// offered again, before any later one of that link.
func (e *Engine) Frame(pi int32, h *wire.Header, payload []byte) bool {
	p := e.peers[pi]
	if h.Kind == wire.Eager && h.Seq == p.recvSeq && h.Session == p.local && p.direct {
		if slot, ok := e.posted.Arrive(h.Match); ok {
			p.recvSeq++
			e.receiveEager(p, slot, h, payload)
			return true
		}
		if e.catch.live && e.caught(p, h, payload) {
			p.recvSeq++
			return true
		}
	}
	return e.frame(p, h, payload)
}

// frame is Frame's general case.
func (e *Engine) frame(p *peer, h *wire.Header, payload []byte) bool {
	if e.paused {
		return false
	}
	if e.local(p) {
		e.count.Malformed++ // nothing comes to ourselves over a link
		return true
	}
	switch h.Kind {
	case wire.Connect:
		e.arriveConnect(p, h, payload)
		return true
	case wire.ConnectReply:
		e.arriveConnectReply(p, h, payload)
		return true
	case wire.Nack:
		e.arriveNack(p, h)
		return true
	case wire.Resume:
		e.arriveResume(p, h)
		return true
	}
	if p.state != peerConnected || h.Session != p.local {
		e.refuse(p, h)
		return true
	}
	if p.rel != nil {
		return e.arriveUnreliable(p, h, payload)
	}
	if p.log != nil && !e.arriveHealing(p, h) {
		return true
	}
	if !h.Kind.Sequenced() {
		e.arriveControl(p, h, payload)
		return true
	}
	if h.Seq != p.recvSeq {
		e.corrupt(p)
		return true
	}
	if isPiece(h, payload) {
		return e.arrivePiece(p, h, payload)
	}
	return e.takeNext(p, h, payload)
}

// takeNext accepts the next frame of a medium that keeps the order.
func (e *Engine) takeNext(p *peer, h *wire.Header, payload []byte) bool {
	session := p.local
	if !e.accept(p, h, payload) {
		return false
	}
	if p.local == session { // the handler may have disconnected
		p.recvSeq++
		if p.log != nil {
			e.owesAck(p, len(payload))
		}
	}
	return true
}

// accept takes a sequenced frame whose turn it is.
func (e *Engine) accept(p *peer, h *wire.Header, payload []byte) bool {
	if p.control.len() >= maxControl && h.Kind != wire.Notify && h.Kind != wire.GetData {
		return false // it sends without reading what we answer
	}
	switch h.Kind {
	case wire.Eager:
		return e.arriveEager(p, h, payload)
	case wire.Rendezvous:
		return e.arriveRendezvous(p, h, payload)
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
	default:
		e.arriveNotify(p, h)
	}
	return true
}

func (e *Engine) arriveControl(p *peer, h *wire.Header, payload []byte) {
	switch h.Kind {
	case wire.PullRequest:
		e.arrivePullRequest(p, h)
	case wire.PullData:
		e.arrivePullData(p, h, payload)
	case wire.Throttle:
		e.arriveThrottle(p, h)
	case wire.Ack:
		e.arriveAsked(p, h)
	case wire.Bye:
		e.arriveBye(p, h)
	}
}

// corrupt gives up a link whose frames make no sense.
func (e *Engine) corrupt(p *peer) {
	e.count.Corrupt++
	link := p.link
	e.loseLink(p, EndpointUnreachable)
	if link != nil {
		e.host.Drop(p.index, link, true)
	}
}

// Pause switches progression off or on (VIII.1.1). It is a switch, not a count.
// While it is off Frame refuses everything, also when the handler switches it
// off, and the owner must not call Flush or Advance.
func (e *Engine) Pause(off bool) {
	e.paused = off
	for _, p := range e.peers {
		p.refresh(e.cfg.EagerLimit)
		p.direct = p.direct && !off
	}
}

// Paused reports whether progression is off.
func (e *Engine) Paused() bool { return e.paused }

// SetHandler has unexpected messages shown to Host.Unexpected, or not.
func (e *Engine) SetHandler(on bool) { e.handler = on }
