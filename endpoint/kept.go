package endpoint

import (
	"math/bits"

	"gomx/transport/wire"
)

// keptFrame is a frame that is kept for retransmission, or for its turn.
type keptFrame struct {
	used bool
	h    wire.Header
	data []byte // from the pool
}

// frameRing holds frames by sequence number. It grows with the span of numbers
// in it, so that a peer with nothing to keep costs next to nothing.
type frameRing struct {
	slots []keptFrame // a power of two, or none
	count int
}

const leastRing = 8

func (r *frameRing) at(seq uint32) *keptFrame {
	if len(r.slots) == 0 {
		return nil
	}
	return &r.slots[seq&uint32(len(r.slots)-1)]
}

// has reports whether the frame numbered seq is here.
func (r *frameRing) has(seq uint32) bool {
	k := r.at(seq)
	return k != nil && k.used && k.h.Seq == seq
}

// put copies a frame into the ring, in which it is the span-th at most.
func (r *frameRing) put(pool *framePool, span int, h *wire.Header, v *wire.Vec, off int) {
	if span > len(r.slots) {
		r.grow(pool, span)
	}
	k := r.at(h.Seq)
	k.used, k.h = true, *h
	k.data = pool.get(int(h.Length))
	if h.Length > 0 {
		v.Gather(k.data, off)
	}
	r.count++
}

func (r *frameRing) grow(pool *framePool, span int) {
	old := r.slots
	r.slots = pool.ring(max(leastRing, span))
	for i := range old {
		if old[i].used {
			*r.at(old[i].h.Seq) = old[i]
		}
	}
	pool.putRing(old)
}

// drop frees the frame numbered seq. An empty ring gives most of its memory back.
func (r *frameRing) drop(pool *framePool, seq uint32) {
	k := r.at(seq)
	pool.put(k.data)
	k.used, k.data = false, nil
	if r.count--; r.count == 0 && len(r.slots) > leastRing {
		pool.putRing(r.slots)
		r.slots = nil
	}
}

func (r *frameRing) clear(pool *framePool) {
	for i := range r.slots {
		if k := &r.slots[i]; k.used {
			pool.put(k.data)
			k.used, k.data = false, nil
		}
	}
	pool.putRing(r.slots)
	r.slots, r.count = nil, 0
}

// framePool lends memory to the rings of all peers of an engine, in powers of
// two. What comes back is lent again, up to a bound.
type framePool struct {
	free  [poolClasses][][]byte
	rings [poolClasses][][]keptFrame
	idle  int // bytes in free
}

const (
	poolClasses = 33
	poolIdle    = 2 * healBytes // a full log, whose frames are rounded up
	leastData   = 64
)

func class(n int) int { return bits.Len(uint(n - 1)) }

func (f *framePool) get(n int) []byte {
	if n == 0 {
		return nil
	}
	c := class(max(n, leastData))
	if free := f.free[c]; len(free) > 0 {
		b := free[len(free)-1]
		f.free[c] = free[:len(free)-1]
		f.idle -= cap(b)
		return b[:n]
	}
	return make([]byte, n, 1<<c)
}

func (f *framePool) put(b []byte) {
	if cap(b) == 0 || f.idle+cap(b) > poolIdle && !f.makeRoom(cap(b)) {
		return
	}
	c := class(cap(b))
	f.free[c] = append(f.free[c], b)
	f.idle += cap(b)
}

// makeRoom drops what lies idle in other sizes until n bytes more may, so that the
// idle memory is of the sizes that are in use.
func (f *framePool) makeRoom(n int) bool {
	for c := poolClasses - 1; c > 0 && f.idle+n > poolIdle; c-- {
		free := f.free[c]
		for c != class(n) && len(free) > 0 && f.idle+n > poolIdle {
			last := len(free) - 1
			f.idle -= cap(free[last])
			free[last] = nil
			free = free[:last]
		}
		f.free[c] = free
	}
	return f.idle+n <= poolIdle
}

func (f *framePool) ring(n int) []keptFrame {
	c := class(n)
	if free := f.rings[c]; len(free) > 0 {
		r := free[len(free)-1]
		f.rings[c] = free[:len(free)-1]
		return r
	}
	return make([]keptFrame, 1<<c)
}

// poolRings is how many rings of a size are kept for later.
const poolRings = 16

func (f *framePool) putRing(r []keptFrame) {
	if len(r) == 0 {
		return
	}
	if c := class(len(r)); len(f.rings[c]) < poolRings {
		clear(r)
		f.rings[c] = append(f.rings[c], r)
	}
}

// sentLog holds the sequenced frames that the peer has not acknowledged.
//
//	| acknowledged | kept | free |
//	               base   next
type sentLog struct {
	base, next uint32
	kept       frameRing
	bytes      int
	stuck      bool // the last frame found the log full
}

func (l *sentLog) outstanding() int { return int(l.next - l.base) }

// full reports whether a frame with n bytes of payload must wait for acks.
func (l *sentLog) full(n, frames, bytes int) bool {
	out := l.outstanding()
	return out >= frames || out > 0 && l.bytes+n > bytes
}

// keep copies the frame numbered next, which has just been sent.
func (l *sentLog) keep(pool *framePool, h *wire.Header, v *wire.Vec, off int) {
	l.kept.put(pool, l.outstanding()+1, h, v, off)
	l.bytes += int(h.Length)
	l.next++
}

// acknowledge frees everything before ack. False: ack is old, or about frames
// that were never sent.
func (l *sentLog) acknowledge(pool *framePool, ack uint32) bool {
	if int32(ack-l.base) < 0 || int32(l.next-ack) < 0 {
		return false
	}
	l.stuck = l.stuck && l.base == ack
	for l.base != ack {
		l.bytes -= int(l.kept.at(l.base).h.Length)
		l.kept.drop(pool, l.base)
		l.base++
	}
	return true
}

func (l *sentLog) reset(pool *framePool, first uint32) {
	l.kept.clear(pool)
	l.base, l.next, l.bytes, l.stuck = first, first, 0, false
}
