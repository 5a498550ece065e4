package exs

import (
	"math"

	"gomx/exs/internal/pool"
)

// special is what a SeqPacket socket has that goes beyond the manual: in-place receiving
// (inplace.go), memory of this side that the peer uses (persist.go), and memory of the peer that this side uses (offset.go).
// Most sockets have none of these.
type special struct {
	pool *pool.Pool

	near    [2]*lasting   // memory of ours
	leaving [2][]*lasting // withdrawn memory, until the peer has acknowledged that
	ending  [2]int        // memory that nobody uses any more, until the event has come
	far     [2]remote     // memory of the peer's
	waits   [2]deque      // operations that wait for such memory
}

// The two ways to use persistent memory, as the side that does not own it sees them.
const (
	toRead  = 0 // a receive of ours reads from the peer's persistent send
	toWrite = 1 // a send of ours writes to the peer's persistent receive
)

// nowhere stands for the offset of a transfer without one.
const nowhere = -1

// specials makes them when they are first needed.
func (s *Socket) specials() *special {
	if s.special == nil {
		s.special = new(special)
	}
	return s.special
}

// maySend returns why a send with a flag or an offset is refused, or one on a socket that
// has a persistent one.
func (s *Socket) maySend(b []byte, flags Flags, at int, q *Queue) Errno {
	if flags&^(sendFlags|Persistent|Notify) != 0 {
		return EINVAL
	}
	return s.mayTransfer(b, flags, at, q, toRead)
}

func (s *Socket) mayReceive(b []byte, flags Flags, at int, q *Queue) Errno {
	if flags&^(recvFlags|Persistent|Notify|InPlace) != 0 {
		return EINVAL
	}
	if flags&InPlace != 0 {
		switch {
		case flags&(Block|Unsignaled|Peek|Persistent) != 0 || at != nowhere:
			return EINVAL // the program would not learn where the packet is
		case s.typ == Stream:
			return EOPNOTSUPP
		}
	}
	return s.mayTransfer(b, flags, at, q, toWrite)
}

// mayTransfer has the checks that both directions have in common. ours says which persistent operation of this side excludes the
// transfer.
func (s *Socket) mayTransfer(b []byte, flags Flags, at int, q *Queue, ours int) Errno {
	lasts := flags&Persistent != 0
	switch {
	case lasts && (flags&(Block|Peek|WaitAll) != 0 || at != nowhere || len(b) == 0):
		return EINVAL
	case flags&Notify != 0 && (!lasts || q == nil):
		return EINVAL
	case at != nowhere && flags&(Peek|WaitAll) != 0:
		return EINVAL
	case at < nowhere || uint64(at) > math.MaxUint32 && at != nowhere:
		return EFAULT
	case (lasts || at != nowhere) && s.typ == Stream:
		return EOPNOTSUPP
	case (lasts || at != nowhere) && s.fate != 0:
		return ECONNRESET
	case at == nowhere && s.special != nil && (s.special.near[ours] != nil || !lasts && ours == toRead && s.special.leaves(ours)):
		return EBUSY // the peer's receives may read from one that is leaving, in the place of a packet that comes behind it
	}
	return 0
}

// sendSpecial starts a send that is not sent as a packet, and reports whether o is one.
func (s *Socket) sendSpecial(o *op, at int) bool {
	switch {
	case s.stream != nil:
		return false
	case o.flags&Persistent != 0:
		s.export(o, toRead)
		return true
	case at != nowhere:
		o.placed, o.offset = true, at
		s.approach(o, toWrite)
		return true
	}
	return false
}

// recvSpecial starts a receive that is not posted at the endpoint at once, and reports whether o is one.
func (s *Socket) recvSpecial(o *op, at int) bool {
	if s.stream != nil {
		return false
	}
	x := s.specials()
	switch {
	case o.flags&Persistent != 0:
		s.export(o, toWrite)
	case at != nowhere:
		o.placed, o.offset = true, at
		s.approach(o, toRead)
	case o.flags&Peek != 0:
		return false
	case x.far[toRead].open && s.drained():
		s.approach(o, toRead)
	default:
		if o.flags&InPlace != 0 && !s.places() {
			o.flags &^= InPlace
		}
		return false
	}
	return true
}

// drained reports whether no packets and no receives precede a new receive.
func (s *Socket) drained() bool {
	p := &s.packets
	return len(p.held)+p.posted.len() == 0 && s.firstInLine() == nil
}

// remove removes an operation that waits for memory of the peer.
func (x *special) remove(o *op) bool {
	return x != nil && (x.waits[toRead].remove(o) || x.waits[toWrite].remove(o))
}

// moveSpecial continues operations that may go on because another one has ended.
func (s *Socket) moveSpecial() {
	x := s.special
	for _, w := range x.near {
		if w != nil {
			s.announce(w)
		}
	}
	if x.near[toWrite] != nil {
		s.feed(x.near[toWrite])
		if s.nothingComes() && !s.packets.wanted() {
			s.conceal(toWrite, 0)
		}
	}
	if x.far[toRead].open && !s.drained() {
		s.redirect()
	}
}

// endPersistence ends all operations on persistent memory of either side.
func (s *Socket) endPersistence(n Errno) {
	for way := range 2 {
		s.endAccess(way, n)
		s.conceal(way, n)
	}
}
