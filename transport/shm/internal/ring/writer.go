package ring

import (
	"sync/atomic"

	"gomx/transport/wire"
)

// Writer is the sending end of a ring. It may not be used from two goroutines at
// once.
type Writer struct {
	shared
	next  uint64 // index of the next slot
	limit uint64 // slots before this index are free
	last  trail
	room  space
}

// trail is what a compact frame leaves out: sequence number and session of the
// next frame in order. Both ends follow it.
type trail struct{ seq, session uint32 }

// follow notes a frame that both ends know.
func (t *trail) follow(h *wire.Header) {
	if h.Kind.Sequenced() {
		t.seq, t.session = h.Seq+1, h.Session
	}
}

// NewWriter returns the sending end of the ring in mem, which must be Size bytes
// of zeros on a 64-byte boundary.
func NewWriter(mem []byte) (*Writer, error) {
	s, err := share(mem)
	if err != nil {
		return nil, err
	}
	return &Writer{shared: s, limit: Slots, room: space{usable: firstSpace}}, nil
}

// ahead is how many slots before its turn a slot is fetched for writing. Farther
// ahead the fetch would take lines away that the reader is still at.
const ahead = 4

// Send puts a frame into the ring: header, and h.Length bytes of v from off on.
// False means that there is no room now. The caller guarantees that h.Length is
// at most MaxFrame and that v is long enough.
func (w *Writer) Send(h *wire.Header, v *wire.Vec, off int) bool {
	n := int(h.Length)
	if h.Kind != wire.Eager || h.Flags != 0 || n > MaxCompact || off != 0 ||
		h.Seq != w.last.seq || h.Session != w.last.session {
		return w.sendWide(h, v, off)
	}
	i := w.next
	if i >= w.limit && !w.refresh(1) && !w.want(1) {
		return false
	}
	s := &w.slots[i&slotMask]
	s.match = h.Match
	if n > 0 && wire.CopyBytes(s.tail[:n], v.First) < n {
		v.Gather(s.tail[:n], 0)
	}
	publish(&s.word0, uint64(wire.Eager)|uint64(compact)<<8|uint64(stampOf(i))<<16|uint64(n)<<32)
	w.next = i + 1
	w.last.seq++
	prefetchWrite(&w.slots[(i+ahead)&slotMask])
	return true
}

// Expect says that a frame is likely to be sent soon. The next slot is fetched for
// writing meanwhile, which the reader is looking at.
func (w *Writer) Expect() { prefetchWrite(&w.slots[w.next&slotMask]) }

// sendWide sends a frame that takes a line.
func (w *Writer) sendWide(h *wire.Header, v *wire.Vec, off int) bool {
	if w.next+3 > w.limit && !w.refresh(3) && !w.want(3) {
		return false
	}
	n, ext := int(h.Length), h.Size()-wire.BaseSize
	offset, ok := 0, true
	if n > tailLen-ext {
		if offset, ok = w.reserve(n); !ok {
			w.want(0)
			if offset, ok = w.reserve(n); !ok {
				return false
			}
		}
		v.Gather(w.data[offset:offset+n], off)
	}
	if w.next&1 != 0 {
		fill := &w.slots[w.next&slotMask]
		publish(&fill.word0, uint64(filler)|uint64(stampOf(w.next))<<16)
		w.next++
	}
	i := w.next
	s := w.wide(i)
	if n > 0 && n <= tailLen-ext {
		v.Gather(s.tail[ext:ext+n], off)
	}
	h.AppendExtensions(s.tail[:0])
	s.match = h.Match
	s.word2 = h.Word2()
	s.offset = uint64(offset)
	s.mark = uint64(stampOf(i)) << 16
	w.next = i + 2
	w.last.follow(h)
	publish(&s.word0, h.Word0(stampOf(i)))
	return true
}

// reserve finds room for n bytes of payload of the frame that begins at the next
// line.
func (w *Writer) reserve(n int) (int, bool) {
	frame := (w.next + 1) &^ 1
	at, ok := w.room.take(n, frame)
	if !ok {
		w.refresh(0)
		w.room.grow()
		at, ok = w.room.take(n, frame)
	}
	return at, ok
}

// refresh looks how far the reader is, and reports whether n slots are free. A
// position that can't be is the reader's lie, and only makes the ring look full.
func (w *Writer) refresh(n uint64) bool {
	pos := w.loadPosition()
	if pos <= w.next && w.next-pos <= Slots {
		w.limit = pos + Slots
		w.room.release(pos)
	}
	return w.next+n <= w.limit
}

// want asks the reader to say when it has made room, and looks once more whether n slots are free: of
// room that the reader has made since the last look, but before it could see the request, it says nothing.
func (w *Writer) want(n uint64) bool {
	atomic.SwapUint32(w.wanted, 1)
	return w.refresh(n)
}

// Idle reports whether the reader has taken every frame, as far as it has said.
func (w *Writer) Idle() bool { return w.loadPosition() == w.next }
