package ring

import (
	"sync/atomic"

	"gomx/transport/wire"
)

// Reader is the receiving end of a ring. It may not be used from two goroutines
// at once.
type Reader struct {
	shared
	next      uint64 // index of the next slot
	width     uint64 // slots of the frame that Read returned
	published uint64 // position published
	taken     int    // bytes of payload since
	last      trail
	header    wire.Header
	safe      []byte // copy of payloads that are parsed
}

// NewReader returns the receiving end of the ring in mem.
func NewReader(mem []byte) (*Reader, error) {
	s, err := share(mem)
	if err != nil {
		return nil, err
	}
	return &Reader{shared: s}, nil
}

// PublishEvery is how many slots the reader may take before it tells the writer,
// and publishBytes how much payload.
const (
	PublishEvery = 32
	publishBytes = 32 << 10
)

// Look reports whether a frame is there, and returns its first word for Read.
func (r *Reader) Look() (word0 uint64, there bool) {
	word0 = atomic.LoadUint64(&r.slots[r.next&slotMask].word0)
	return word0, uint16(word0>>16) == stampOf(r.next)
}

// AtLine reports whether the next frame comes in another line than the last one.
func (r *Reader) AtLine() bool { return r.next&1 == 0 }

// Ready reports whether a frame is there.
func (r *Reader) Ready() bool {
	_, there := r.Look()
	return there
}

// Read returns the frame that Look has found, without taking it: the header is valid until the next Read, the payload until Take. A
// nil header means that there is only a filler, or with ok false that the writer has written nonsense.
func (r *Reader) Read(word0 uint64) (h *wire.Header, payload []byte, ok bool) {
	s := &r.slots[r.next&slotMask]
	n := word0 >> 32
	if wire.Flags(word0>>8) != compact {
		return r.readWide(word0)
	}
	if wire.Kind(word0) != wire.Eager || n > MaxCompact {
		return nil, nil, false
	}
	h = &r.header
	h.Kind, h.Flags, h.Length, h.Match = wire.Eager, 0, uint32(n), s.match
	h.Seq, h.Session = r.last.seq, r.last.session
	r.width = 1
	return h, s.tail[:n:n], true
}

// readWide reads a frame that takes a line, after a filler if there is one.
func (r *Reader) readWide(word0 uint64) (h *wire.Header, payload []byte, ok bool) {
	if wire.Kind(word0) == filler {
		if r.next&1 == 0 {
			return nil, nil, false
		}
		r.next++
		word0 = atomic.LoadUint64(&r.slots[r.next&slotMask].word0)
		if uint16(word0>>16) != stampOf(r.next) {
			return nil, nil, true // the frame behind the filler is not there yet
		}
	}
	h = &r.header
	if r.next&1 != 0 || !h.SetWord0(word0) {
		return nil, nil, false
	}
	s := r.wide(r.next)
	h.Match = s.match
	h.SetWord2(s.word2)
	tail := s.tail // one look at shared memory
	h.ParseExtensions(tail[:])
	n, ext := int(h.Length), h.Size()-wire.BaseSize
	if n <= tailLen-ext {
		payload = s.tail[ext : ext+n : ext+n]
	} else {
		at := s.offset
		if n > MaxFrame || at > uint64(len(r.data)-n) {
			return nil, nil, false
		}
		payload = r.data[at : int(at)+n : int(at)+n]
	}
	if !carriesUserBytes(h.Kind) {
		// It will be parsed: the writer must not change it between check and use.
		r.safe = append(r.safe[:0], payload...)
		payload = r.safe
	}
	r.width = 2
	return h, payload, true
}

// carriesUserBytes reports whether the payload of a kind is copied and never looked at.
func carriesUserBytes(k wire.Kind) bool {
	return k == wire.Eager || k == wire.PullData || k == wire.Put || k == wire.GetData
}

// Take frees the frame that Read returned, and reports whether it is time for
// Publish.
func (r *Reader) Take() bool {
	r.next += r.width
	r.taken += int(r.header.Length)
	r.last.follow(&r.header)
	return r.next-r.published >= PublishEvery || r.taken >= publishBytes
}

// Compact reports whether the frame that Read returned last took one slot.
func (r *Reader) Compact() bool { return r.width == 1 }

// Behind reports whether frames were taken that Publish has not told of.
func (r *Reader) Behind() bool { return r.published != r.next }

// Publish tells the writer how far the reader is, and reports whether the writer
// waits to hear it. The owner calls it when it finds nothing more, and every
// PublishEvery frames.
func (r *Reader) Publish() bool {
	r.published, r.taken = r.next, 0
	atomic.SwapUint64(r.position, r.next) // see "The request for room" in doc.go
	return atomic.LoadUint32(r.wanted) != 0 && atomic.SwapUint32(r.wanted, 0) != 0
}
