package endpoint

import "gomx/transport/wire"

// Handle names a request: slot and generation, so that a stale handle or a late
// acknowledgement never touches a slot's next owner. Zero is no request.
type Handle uint64

const none = int32(-1)

func handleOf(slot int32, generation uint32) Handle {
	return Handle(uint64(generation)<<32 | uint64(uint32(slot+1)))
}

func (h Handle) slot() int32        { return int32(uint32(h)) - 1 }
func (h Handle) generation() uint32 { return uint32(h >> 32) }

type requestKind uint8

const (
	kindSend requestKind = iota
	kindAckedSend
	kindSyncSend
	kindRecv
	kindConnect
	kindPut
	kindGet
	kindAtomic
	kindFetch    // an atomic with a result
	kindPutIn    // a peer's put that is being pulled into a window
	kindGetOut   // a peer's get that is being answered
	kindFetchOut // the result of a peer's atomic, which waits for the link
	kindWatch    // of a session
	kindThreshold
	kindRecvMulti
	kindPart  // of a multi-receive: one message
	kindVisit // a peer's connect that waits for our owner's answer
)

// The states of a request (II.7), and where a pending one is:
//
//	any operation on a peer, if it is triggered: held ---> ready ---> as from its beginning below
//	send     queued ---> (gone) ---> complete        eager
//	         queued ---> unpaid ---> ...             waits for credit, then goes on as from queued
//	         queued ---> offered --> complete        rendezvous: waits for Notify
//	         queued ---> buffered -> complete        small, synchronous or acknowledged: waits for Notify
//	recv     posted ---> (match) --> complete
//	         posted ---> pulling --> complete        rendezvous
//	         tied, like posted, or -> complete       the session of the peer ended
//	connect  waiting -> complete
//	put      queued ---> buffered -> complete        in its frame: waits for Notify
//	         queued ---> offered --> complete        larger: waits for Notify
//	get      queued ---> asked ----> complete        the bytes come in a frame
//	         asked ----> pulling --> complete        larger
//	atomic   queued ---> buffered -> complete        waits for Notify
//	fetch    queued ---> asked ----> complete        the result comes in a frame
//	put in   pulling --> complete                    a peer's
//	get out  queued ---> (gone) ---> complete        a peer's, answered in a frame
//	         queued ---> offered --> complete        larger: waits for Notify
//	fetch out  queued -> (gone) ---> complete        a peer's
//	watch    watching -> complete
//	threshold  counting -> complete
//	multi-receive  posted -> spent -> complete       spent: takes no more messages, and waits for its parts
//	part     like recv, from its match on           freed at its end, when it is announced
//	visit    held, until it is answered or over
type requestState uint8

const (
	stateFree requestState = iota
	stateQueued
	stateUnpaid
	stateOffered
	stateBuffered
	statePosted
	stateTied
	statePulling
	stateWaiting
	stateAsked
	stateWatching
	stateCounting
	stateSpent
	stateHeld
	stateReady
	stateUndecided
	stateComplete
)

type requestFlags uint8

const (
	forgotten requestFlags = 1 << iota // free it when it completes, tell nobody
	exported                           // token must go back to the link
	failing                            // ends with its code when the link is done with its memory
	queued                             // completes into the queue that it names, not into the engine's own; with a counter, it is forgotten too
	expecting                          // counted in its peer's expected
	pushed                             // the link may still read its memory
	listed                             // has more segments than one
	counted                            // among those its peer has under way
)

// request is one operation. What every message touches lies in the first cache
// line, and requests begin on lines: a window of them stays in the cache.
type request struct {
	generation uint32
	kind       requestKind
	state      requestState
	flags      requestFlags
	code       Code
	peer       int32
	next, prev int32  // free list, done list, or a peer's queue
	session    uint32 // the peer's session
	match      uint64
	msgLen     uint32
	xferLen    uint32
	vec        wire.Vec // Rest only if listed

	ctx      any
	mask     uint64 // of a posted receive; of a triggered operation, its threshold; of a connect, underReview
	started  Tick   // with it in the second cache line, which a posted receive fills
	remote   uint64 // the peer's request, in a rendezvous, or the one that is served; what an atomic of ours does; the number of a threshold; the least room of a multi-receive
	window   uint64 // of a put, get or atomic; of a threshold, the counter; of a part, its multi-receive; of that, its parts under way
	token    uint64 // of exported memory; of what is complete in a queue, how much was announced there before it
	pull     int32  // slot of the block pull, or none
	at       uint32 // offset in the window; of a connect, the filter; of a multi-receive, where the next part goes; of a threshold, its place in the heap
	tied     int32  // the peer of an expecting receive; of a triggered operation, its counter
	queue    QueueID
	deadline Tick
	list     [][]byte // own copy of the user's segment list, reused
}

const (
	chunkBits = 5 // each endpoint has a chunk
	chunkLen  = 1 << chunkBits
)

// slab holds requests in chunks, so that they never move.
type slab struct {
	chunks []*[chunkLen]request
	free   int32
	live   int
	peak   int
}

func newSlab() slab { return slab{free: none} }

func (s *slab) at(slot int32) *request {
	return &s.chunks[uint32(slot)>>chunkBits][uint32(slot)%chunkLen]
}

func (s *slab) alloc() (int32, *request) {
	if s.free == none {
		s.grow()
	}
	slot := s.free
	r := s.at(slot)
	s.free = r.next
	if s.live++; s.live > s.peak {
		s.peak = s.live
	}
	return slot, r
}

func (s *slab) grow() {
	base := int32(len(s.chunks) * chunkLen)
	c := new([chunkLen]request)
	s.chunks = append(s.chunks, c)
	for i := int32(chunkLen) - 1; i >= 0; i-- {
		c[i].generation, c[i].pull, c[i].next = 1, none, s.free
		s.free = base + i
	}
}

func (s *slab) release(slot int32, r *request) {
	if r.flags&listed != 0 {
		r.vec.Rest = nil
		clear(r.list)
		r.list = r.list[:0]
	}
	r.generation++
	r.state, r.flags = stateFree, 0
	r.next = s.free
	s.free = slot
	s.live--
	if r.vec.First != nil {
		r.vec.First = nil
	}
	if r.ctx != nil {
		r.ctx = nil
	}
}

// find returns the request of a handle, or nil if the handle is stale or foreign.
func (s *slab) find(h Handle) (int32, *request) {
	slot := h.slot()
	if uint(uint32(slot)>>chunkBits) >= uint(len(s.chunks)) {
		return none, nil
	}
	r := s.at(slot)
	if r.generation != h.generation() || r.state == stateFree {
		return none, nil
	}
	return slot, r
}

// user is find for handles that come from the user, who has none of a forgotten
// request any more.
func (s *slab) user(h Handle) (int32, *request) {
	slot, r := s.find(h)
	if r != nil && r.flags&forgotten != 0 {
		return none, nil
	}
	return slot, r
}

// keep stores the user's list in the request. The list itself is copied, since
// the user may change it as soon as the call returns (V.1.1).
func (r *request) keep(first []byte, rest [][]byte) {
	r.vec.First = first
	r.keepRest(rest)
}

func (r *request) keepRest(rest [][]byte) {
	if len(rest) > 0 {
		r.list = append(r.list[:0], rest...)
		r.vec.Rest = r.list
		r.flags |= listed
	}
}
