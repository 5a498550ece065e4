package transporttest

import (
	"bytes"
	"testing"

	"gomx/transport/wire"
)

// parcel is a frame that a test sends, and from which it knows what must arrive.
// Its number is in the header's Seq.
type parcel struct {
	header   wire.Header
	segments int // of the list it is sent from
	off      int // where in the list it begins
}

// content writes the payload of parcel seq.
func content(dst []byte, seq uint32) {
	x := seq*2654435761 + 12345
	for i := range dst {
		if i&3 == 0 {
			x ^= x << 13
			x ^= x >> 17
			x ^= x << 5
		}
		dst[i] = byte(x >> (8 * (i & 3)))
	}
}

// cut spreads n bytes over so many segments of differing length, some empty.
func cut(n, segments int) *wire.Vec {
	flat := make([]byte, n)
	v := &wire.Vec{}
	for i := range segments {
		size := len(flat)
		if left := segments - i; left > 1 {
			size = min(size, 2*n/segments*(i%3)/2)
		}
		part := flat[:size:size]
		flat = flat[size:]
		if i == 0 {
			v.First = part
		} else {
			v.Rest = append(v.Rest, part)
		}
	}
	return v
}

// vec builds the list that the parcel is sent from: as many bytes as off says
// that do not belong to it, its content, and three more.
func (p *parcel) vec() *wire.Vec {
	n := int(p.header.Length)
	flat := make([]byte, p.off+n+3)
	content(flat[p.off:p.off+n], p.header.Seq)
	v := cut(len(flat), p.segments)
	v.Scatter(0, flat)
	return v
}

// dirty returns the header with values in the fields that the flags leave out.
func (p *parcel) dirty() wire.Header {
	h := p.header
	if h.Flags&wire.HasID == 0 {
		h.ID = ^uint64(0)
	}
	if h.Flags&wire.HasRange == 0 {
		h.Total, h.Offset = 1, 2
	}
	if h.Flags&wire.HasAck == 0 {
		h.Ack = 3
	}
	return h
}

// parcels returns frames of every kind, with every combination of flags and
// with payloads of many sizes from lists cut in many ways.
func parcels(maxFrame int) []parcel {
	sizes := []int{0, 1, 7, 8, 16, 39, 40, 41, 64, 512, 4096, maxFrame}
	segments := []int{1, 2, 3, 17, 256}
	offsets := []int{0, 1, 64, 100}
	var all []parcel
	for kind := wire.Kind(1); kind.Valid(); kind++ {
		for flags := wire.Flags(0); flags <= wire.HasID|wire.HasRange|wire.HasAck|wire.Sync; flags++ {
			for _, size := range sizes {
				if size > maxFrame {
					continue
				}
				i := len(all)
				p := parcel{segments: segments[i%len(segments)], off: offsets[i/5%len(offsets)]}
				p.header = header(uint32(i), kind, flags, size)
				all = append(all, p)
			}
		}
	}
	return all
}

func header(seq uint32, kind wire.Kind, flags wire.Flags, size int) wire.Header {
	h := wire.Header{
		Kind: kind, Flags: flags, Length: uint32(size), Seq: seq,
		Match: uint64(seq)*0x9e3779b97f4a7c15 + 1, Session: ^seq,
	}
	if flags&wire.HasID != 0 {
		h.ID = h.Match ^ 0xffff
	}
	if flags&wire.HasRange != 0 {
		h.Total, h.Offset = seq+1, ^seq-1
	}
	if flags&wire.HasAck != 0 {
		h.Ack = seq ^ 0xaaaaaaaa
	}
	return h
}

// check compares a frame that arrived with the parcel it must be.
func (p *parcel) check(t testing.TB, h *wire.Header, payload []byte) {
	t.Helper()
	if *h != p.header {
		t.Fatalf("header\n%+v, want\n%+v", *h, p.header)
	}
	want := make([]byte, p.header.Length)
	content(want, p.header.Seq)
	if !bytes.Equal(payload, want) {
		t.Fatalf("payload of frame %d (%d bytes, %d segments, offset %d) differs",
			h.Seq, h.Length, p.segments, p.off)
	}
}
