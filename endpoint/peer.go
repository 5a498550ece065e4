package endpoint

import "gomx/transport/wire"

type peerState uint8

// The states of a peer.
//
//	absent --Iconnect--> dialing --LinkUp, ConnectReply--> connected
//	   |                    |  ^                                |
//	   |<----failure--------+  +------Iconnect---- gone <-------+  Bye, LinkDown, Disconnect
//	   +--Connect from the peer--> connected
const (
	peerAbsent peerState = iota
	peerDialing
	peerConnected
	peerGone
	peerStranger // behind a link that was accepted; see stranger.go
	peerFree     // a stranger who has gone
)

// peer is everything known of one other endpoint. It lives as long as the
// engine, so that an address held by the user never dangles. Of a stranger it lives as
// long as his link.
type peer struct {
	index int32
	at    address
	state peerState

	// direct: frames come in order and complete, so the fast path of Frame holds.
	direct bool
	// fast is the largest message that may go out at once, as an eager frame.
	// It is -1 while anything stands in the way.
	fast int
	// directed: the endpoint has receives for one peer each, which only the general path knows.
	directed bool

	local, remote    uint32 // sessions: ours towards the peer, the peer's towards us
	sendSeq, recvSeq uint32
	pulled           uint32  // PullData frames that have come
	credit           credits // what we may send to the peer
	link             wire.Link
	bytes, headers   account // what it may send to us
	caps             *wire.Caps
	linkDialled      bool         // by us
	linkAsked        bool         // a Connect of ours has gone over it, and was not refused for its filter
	given, shown     wire.Token   // what the peer must show to resume the session, and what we must
	claimed          *offer       // a stranger's Connect that waits for the death of a link
	challenged       bool         // and the stranger has been told to ask again
	probed           bool         // a stranger claims the peer's address
	next             wire.Link    // a second link, in reserve, over media that lose
	used             bool         // a session has begun on the link
	rel              *reliability // over media that lose or reorder
	log              *sentLog     // over these, and over media that heal
	heal             *healing     // over the latter
	vigil            vigil
	medium           *Medium

	queue       list // sends, puts and gets that wait for the link
	waiting     list // sends that wait for credit
	answers     list // gets of the peer that wait for the link
	outstanding int  // puts, gets and atomics of ours that are not answered
	served      int  // gets and large puts of the peer's
	unanswered  int  // answers to its puts and gets that wait for the link
	greetings   fifo[greeting]
	control     fifo[wire.Header]
	jobs        fifo[pullJob]
	pushing     Handle // the send whose memory the link may retain
	descOf      Handle // the send of desc
	desc        []byte // its memory descriptor
	inBacklog   bool
	watched     Tick // when Advance comes by, or Never

	goneCode Code
	eagerMax int  // what the peer takes eagerly
	shows    bool // it shows its handler the data of small messages
	level    int  // bytes of credit after the last grant
	dry      bool // the peer has no bytes to grant for now
	dialled  bool // Host.Dial has not been answered
	anew     bool // a connect has begun since, for which an answer that there is nobody may come too early
	redials  int  // in a row that brought no session
	redialAt Tick // when a link is dialled again, or Never
	asking   bool // connects are pending, which are retransmitted at askAt
	askAt    Tick

	nacked     uint32 // our number for which the peer got a nack, over media that lose nothing
	byeSession uint32 // the peer's session for which we sent a bye
	byesLeft   int    // byes that may still be sent, over media that lose them
	byeAt      Tick

	denied   bool // our windows are not for it
	context  any
	contexts wire.Contexts // that it has said it has

	visit  Handle // of its Connect that waits for the owner's answer, or 0
	answer []byte // what was said when it was admitted to the session
}

// PeerOf returns the slot of an endpoint, made on first use.
func (e *Engine) PeerOf(nic uint64, endpoint uint32) int32 {
	at := address{nic, endpoint}
	if i, ok := e.byAddr[at]; ok {
		return i
	}
	p := e.newPeer(at)
	e.byAddr[at] = p.index
	return p.index
}

// Peers returns how many peers the engine has known, itself included.
func (e *Engine) Peers() int { return len(e.peers) }

// AddrOf returns a peer's address in its current or last session. False: there
// has been none.
func (e *Engine) AddrOf(peer int32) (Addr, bool) {
	p := e.peers[peer]
	return Addr{peer, p.remote}, p.remote != 0
}

// Locate returns the NIC id and endpoint id behind an address, which of a peer need
// not have a session.
func (e *Engine) Locate(a Addr) (nic uint64, endpoint uint32, ok bool) {
	if uint(a.Peer) >= uint(len(e.peers)) || a == (Addr{}) {
		return 0, 0, false
	}
	at := e.peers[a.Peer].at
	return at.nic, at.endpoint, true
}

// AddrContext returns what SetAddrContext stored (IV.5).
func (e *Engine) AddrContext(a Addr) (any, bool) {
	if !e.known(a) {
		return nil, false
	}
	return e.peers[a.Peer].context, true
}

// SetAddrContext stores a value with the peer (IV.5).
func (e *Engine) SetAddrContext(a Addr, v any) bool {
	if !e.known(a) {
		return false
	}
	e.peers[a.Peer].context = v
	return true
}

func (e *Engine) known(a Addr) bool {
	return a.Session != 0 && a.Peer >= 0 && int(a.Peer) < len(e.peers)
}

// MediumName returns the name of the medium that serves the peer, or "".
func (e *Engine) MediumName(peer int32) string {
	if p := e.peers[peer]; p.medium != nil {
		return p.medium.Name
	}
	return ""
}

// FramesWith returns how many sequenced frames have gone to a peer and come from it in the present session, modulo 2^32.
func (e *Engine) FramesWith(peer int32) (sent, received uint32) {
	if p := e.peers[peer]; p.state == peerConnected {
		return p.sendSeq - p.local, p.recvSeq - p.remote
	}
	return 0, 0
}

// begin starts a session with the peer, whose session number is remote.
func (e *Engine) begin(p *peer, remote uint32, eagerMax int, first credits) {
	p.probed = false
	p.state, p.remote, p.eagerMax, p.used = peerConnected, remote, eagerMax, true
	p.sendSeq, p.recvSeq = p.local, remote
	p.byesLeft, p.vigil.on, p.vigil.givenUp, p.redials = 0, false, false, 0
	e.openAccounts(p, first)
	e.note(Connected, p, Success)
	e.forgetFrames(p)
	p.refresh(e.cfg.EagerLimit)
	e.endOlderClaims(p)
}

// forgetFrames forgets what is kept of a session, of which there is nothing when one begins or ends.
func (e *Engine) forgetFrames(p *peer) {
	if p.log != nil {
		p.log.reset(&e.frames, p.sendSeq)
	}
	if p.rel != nil {
		p.rel.reset(&e.frames)
	}
	if p.heal != nil {
		e.dropPieces(p)
		*p.heal = healing{acked: p.recvSeq, cursor: p.sendSeq}
	}
}

// renew gives the peer another session number of ours, so that frames of the
// old session are known for what they are.
func (p *peer) renew() {
	p.given, p.answer = wire.Token{}, nil
	if p.local++; p.local == 0 {
		p.local = 1
	}
}

// eagerLimit returns the largest message that goes to the peer eagerly while there
// is credit.
func (p *peer) eagerLimit(configured int) int {
	limit := p.caps.Eager
	if configured >= 0 {
		limit = configured
	}
	return min(max(min(limit, p.eagerMax), AlwaysEager-1), p.caps.MaxFrame)
}

// EagerTo returns the largest message that goes to the peer eagerly while there is
// credit, or -1 if there is no link to it that would tell.
func (e *Engine) EagerTo(of Addr) int {
	if !e.known(of) {
		return -1
	}
	return e.EagerOf(of.Peer)
}

// EagerOf is EagerTo of the peer with the number i, below Peers.
func (e *Engine) EagerOf(i int32) int {
	if e.peers[i].link == nil {
		return -1
	}
	return e.peers[i].eagerLimit(e.cfg.EagerLimit)
}

// refresh computes fast again after something it depends on has changed.
func (p *peer) refresh(configured int) {
	ready := p.state == peerConnected && p.link != nil && p.log == nil
	p.direct = ready && !p.directed
	if ready && !p.vigil.givenUp && p.queue.head == none && p.waiting.head == none && p.greetings.len() == 0 {
		p.fast = p.eagerLimit(configured)
	} else {
		p.fast = -1
	}
}
