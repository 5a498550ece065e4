package endpoint

import (
	"gomx/transport/wire"
	"gomx/unexpected"
)

// Flow control. A link never stops: every frame is taken when it arrives. The unexpected
// messages that we may have to buffer are bounded by the credit of the peers. Credit has
// two currencies: an eager message costs bytes, the header of a rendezvous costs headers.
// A sender without bytes waits for more, or sends headers alone once the receiver has
// answered that it has no bytes to grant. A sender without headers waits. Meanwhile both
// send all other frames, which cost nothing.
//
//	granted to a peer, and not returned:  | stored | left                 |
//	given by:                             | its reserve | drawn from the pool |
//
// Credit is returned when a message is matched, and granted again when half of what
// was left is used up. Each peer has a reserve of its own. Beyond the reserve, it may
// draw as much from the shared pool as it leaves there: a single peer that floods us
// gets half of the pool, n such peers get one part in n+1 each, and the remaining part
// is left for the others.
//
// The engine's bytesPool and headerPool are the pools of the two currencies.

// pool is credit that peers share. Both pools are in the units of their currency.
type pool struct {
	size    int // what may be drawn, by all peers together
	reserve int // what each peer has beside that
	window  int // what may be left to a peer: enough for it not to wait while we receive
	need    int // what the dearest message that can't be sent otherwise costs

	drawn  int
	freed  int     // since the hungry were looked at
	hungry []int32 // peers that have asked in vain
}

// account is what one peer may send in one currency.
type account struct {
	left    int  // granted, and not used by what has arrived
	grantAt int  // whatever leaves less than this brings a grant
	held    int  // by its messages in the store, of whatever session they are
	drawn   int  // from the pool, when we last looked
	hungry  bool // it gets more as soon as something of it, or enough of the others', leaves the store
	listed  bool // in the pool's list of those
}

// credits are what we may send to a peer: what it has granted, less what we have used.
type credits struct{ bytes, headers int }

const (
	reserveHeaders = 64      // more than four times what the dearest header costs: see draw
	leftBytes      = 4 << 20 // what a peer has left at most
	leftHeaders    = 4096
)

func newBytesPool(size, reserve int) pool {
	p := pool{size: size, reserve: min(size, reserve)}
	p.window = max(p.reserve, min(size/16, leftBytes))
	return p
}

func newHeaderPool(size int) pool {
	p := pool{size: size, reserve: reserveHeaders, need: wire.Headers(AlwaysEager)}
	p.window = max(p.reserve, min(size/16, leftHeaders))
	return p
}

// leastGrant is what a grant from the pool has at least, so that those who get little
// at a time don't need a frame for each message.
func (l *pool) leastGrant() int { return max(1, l.window/4) }

// settle brings the account's share of what is drawn up to date.
func (l *pool) settle(a *account) {
	drawn := max(0, a.left+a.held-l.reserve)
	l.drawn += drawn - a.drawn
	a.drawn = drawn
}

// draw gives the account what it may have, and returns how much that is.
func (l *pool) draw(p *peer, a *account) int {
	l.settle(a)
	own := max(0, l.reserve-a.left-a.held)
	g := min(l.window-a.left, own+max(0, l.size-l.drawn-a.drawn)/2)
	starves := own > 0 && a.left < l.need // its reserve is its own to the last
	if g < l.leastGrant() && own < (l.reserve+1)/2 && !starves || g <= 0 {
		g = 0
	}
	a.left += g
	l.settle(a)
	a.grantAt = max(a.left/2, min(a.left, l.need)) // a peer with less than it needs may be waiting
	if a.hungry = g == 0 && a.left < l.window || a.left < l.need; a.hungry && !a.listed {
		a.listed = true
		l.hungry = append(l.hungry, p.index)
	}
	return g
}

// spares reports whether a message to ourselves may be stored that costs n: there is room in the reserve, or some of the pool is left.
func (l *pool) spares(a *account, n, some int) bool {
	return a.held+n <= l.reserve || l.drawn+n <= some
}

// open begins a session, whose first credit travels in the connect.
func (l *pool) open(a *account) {
	a.left, a.grantAt, a.hungry = l.reserve, l.reserve/2, false
	l.settle(a)
}

// shut ends a session. Its stored messages still count as the peer's.
func (l *pool) shut(a *account) {
	a.left, a.grantAt, a.hungry = 0, 0, false
	l.settle(a)
}

// overfull reports whether the stored messages of the peer's former sessions exceed what
// its credit allowed. Then no further session begins until they are received.
func (l *pool) overfull(a *account) bool {
	return a.drawn > l.size/2 || a.drawn > 0 && l.drawn >= l.size
}

func (e *Engine) overfull(p *peer) bool {
	return e.bytesPool.overfull(&p.bytes) || e.headerPool.overfull(&p.headers)
}

// firstCredits is what each session begins with.
func (e *Engine) firstCredits() credits { return credits{e.bytesPool.reserve, e.headerPool.reserve} }

func (e *Engine) openAccounts(p *peer, first credits) {
	p.credit, p.level, p.dry = first, first.bytes, false
	e.bytesPool.open(&p.bytes)
	e.headerPool.open(&p.headers)
}

func (e *Engine) shutAccounts(p *peer) {
	p.credit = credits{}
	e.bytesPool.shut(&p.bytes)
	e.headerPool.shut(&p.headers)
}

// charge takes the price of a message that has arrived. False: the peer had no credit
// for it, and has lost its session.
func (e *Engine) charge(p *peer, h *wire.Header, n int) bool {
	a := &p.headers
	switch {
	case h.Kind == wire.Rendezvous && h.Flags&wire.HasRange != 0:
		a.left -= max(int(h.Offset), wire.Headers(n))
	case h.Kind == wire.Rendezvous, h.Flags&wire.AsHeader != 0:
		a.left -= wire.Headers(n)
	default:
		a = &p.bytes
		a.left -= wire.Cost(n)
	}
	if a.left >= 0 {
		return true
	}
	e.breach(p)
	return false
}

// breach ends the session of a peer that exceeds its credit or another bound.
func (e *Engine) breach(p *peer) {
	e.count.WindowBroken++
	e.giveUp(p)
}

func (a *account) wants() bool { return a.hungry || a.left < a.grantAt }

// wantsCredit reports whether the peer has used so much that it should get more.
func (p *peer) wantsCredit() bool {
	return p.bytes.left < p.bytes.grantAt || p.headers.left < p.headers.grantAt
}

// missesBytes notes that a message came as a rendezvous which would have been eager if the
// peer had had credit for its bytes.
func (e *Engine) missesBytes(p *peer, total uint32) {
	if a := &p.bytes; !a.hungry && int64(total) <= int64(p.caps.MaxFrame) && wire.Cost(int(total)) > a.left {
		a.grantAt = a.left + 1
	}
}

// maxControl bounds the answers that wait for the link to a peer that does not read
// them. At the bound the peer gets no more credit.
const maxControl = 1 << 16

// grant sends the peer the credit that the pools have for it.
func (e *Engine) grant(p *peer) {
	if p.control.len() >= maxControl {
		return // flushPeer comes back to it
	}
	bytes, headers, hungry := 0, 0, p.bytes.hungry
	if p.bytes.wants() {
		bytes = e.bytesPool.draw(p, &p.bytes)
	}
	if p.headers.wants() {
		headers = e.headerPool.draw(p, &p.headers)
	}
	if bytes+headers > 0 || p.bytes.hungry && !hungry {
		e.credit(p, bytes, headers)
	}
}

// credit sends a credit frame: the additional credit, whether the bytes are exhausted, so
// that the peer sends headers, and whether we have an unexpected handler.
func (e *Engine) credit(p *peer, bytes, headers int) {
	e.count.CreditFrames++
	what := e.shows()
	if p.bytes.hungry {
		what |= wire.Dry
	}
	e.control(p, wire.Header{
		Kind: wire.Credit, Flags: wire.HasRange, Match: what, Total: uint32(bytes), Offset: uint32(headers),
	})
}

// shows is the flag that peers get: wire.Shows if our unexpected handler needs the data
// of small messages.
func (e *Engine) shows() uint64 {
	if e.handler {
		return wire.Shows
	}
	return 0
}

func (e *Engine) arriveCredit(p *peer, h *wire.Header) {
	if h.Flags&wire.HasRange == 0 {
		e.count.Malformed++
		return
	}
	p.credit.bytes += int(h.Total)
	p.credit.headers += int(h.Offset)
	if h.Total > 0 {
		p.level = p.credit.bytes
	}
	p.dry, p.shows = h.Match&wire.Dry != 0, h.Match&wire.Shows != 0
	if p.waiting.head != none {
		e.wait(p)
	}
}

// price returns how much credit a stored message holds, and of which pool and account.
func (e *Engine) price(m *unexpected.Message) (l *pool, a *account, n int) {
	p := e.peers[m.Peer]
	switch {
	case storedKind(m.Kind) == storedSelf:
		return &e.headerPool, &p.headers, 0 // the number of our own requests bounds those
	case storedKind(m.Kind) == storedRemote, m.Flags&asHeader != 0:
		return &e.headerPool, &p.headers, wire.Headers(len(m.Data))
	}
	return &e.bytesPool, &p.bytes, wire.Cost(len(m.Data))
}

// store puts a message into the store of unexpected messages.
func (e *Engine) store(m unexpected.Message, size int) int32 {
	id := e.unexp.Add(m, size)
	l, a, n := e.price(e.unexp.At(id))
	a.held += n
	l.settle(a)
	return id
}

// unstore removes a message from the store. feed grants the credit that it held.
func (e *Engine) unstore(id int32) {
	l, a, n := e.price(e.unexp.At(id))
	e.unexp.Remove(id)
	a.held -= n
	l.settle(a)
	l.freed += n
}

// feed grants credit that has become free to the peers that lack it: at once to the peer
// whose message has left the store, and to others when enough for a grant is free.
func (e *Engine) feed(p *peer) {
	if p.bytes.hungry || p.headers.hungry {
		e.repeatGrant(p)
	}
	e.feedAll(&e.bytesPool)
	e.feedAll(&e.headerPool)
}

func (e *Engine) repeatGrant(p *peer) {
	if p.state == peerConnected {
		e.grant(p)
	}
}

func (e *Engine) feedAll(l *pool) {
	if l.freed < l.leastGrant() {
		return
	}
	l.freed = 0
	n := len(l.hungry)
	for k := range n { // those who stay hungry are put behind
		p := e.peers[l.hungry[k]]
		a := &p.bytes
		if l == &e.headerPool {
			a = &p.headers
		}
		if a.listed = false; a.hungry {
			e.repeatGrant(p)
		}
	}
	l.hungry = l.hungry[:copy(l.hungry, l.hungry[n:])]
}

// Credit returns what we may send to a peer, and what it may send to us, in bytes and
// headers. When nothing is under way, one side's first two are the other's last two.
func (e *Engine) Credit(peer int32) (bytes, headers, theirBytes, theirHeaders int) {
	p := e.peers[peer]
	return p.credit.bytes, p.credit.headers, p.bytes.left, p.headers.left
}
