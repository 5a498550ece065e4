package ring_test

import (
	"encoding/binary"
	"testing"
	"unsafe"

	"gomx/transport/shm/internal/ring"
	"gomx/transport/wire"
)

// guard is how many bytes on either side of a ring the tests watch.
const guard = 4096

const guardByte = 0xa5

// guarded returns ring memory in the middle of a larger buffer, and a function
// that reports whether anything around it has changed.
func guarded(t testing.TB) (mem []byte, intact func() bool) {
	t.Helper()
	whole := make([]byte, ring.Size+2*guard+ring.Line)
	at := guard + int(-uintptr(unsafe.Pointer(&whole[guard]))%ring.Line)
	for i := range at {
		whole[i] = guardByte
	}
	for i := at + ring.Size; i < len(whole); i++ {
		whole[i] = guardByte
	}
	return whole[at : at+ring.Size : at+ring.Size], func() bool {
		for i := range at {
			if whole[i] != guardByte {
				return false
			}
		}
		for i := at + ring.Size; i < len(whole); i++ {
			if whole[i] != guardByte {
				return false
			}
		}
		return true
	}
}

func ends(t testing.TB, mem []byte) (*ring.Writer, *ring.Reader) {
	t.Helper()
	w, err := ring.NewWriter(mem)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ring.NewReader(mem)
	if err != nil {
		t.Fatal(err)
	}
	return w, r
}

// meant clears the fields that the flags say nothing about.
func meant(h wire.Header) wire.Header {
	if h.Flags&wire.HasID == 0 {
		h.ID = 0
	}
	if h.Flags&wire.HasRange == 0 {
		h.Total, h.Offset = 0, 0
	}
	if h.Flags&wire.HasAck == 0 {
		h.Ack = 0
	}
	return h
}

// within reports whether b lies inside mem.
func within(mem, b []byte) bool {
	if len(b) == 0 {
		return true
	}
	first, at := uintptr(unsafe.Pointer(&mem[0])), uintptr(unsafe.Pointer(&b[0]))
	return at >= first && at+uintptr(len(b)) <= first+uintptr(len(mem))
}

// frame is what the tests expect of one frame: everything follows from its
// number, kind and length.
type frame struct {
	number uint64
	kind   wire.Kind
	flags  wire.Flags
	length int
	off    int // where in its gather list the payload begins
}

func (f *frame) header() wire.Header {
	h := wire.Header{
		Kind: f.kind, Flags: f.flags, Length: uint32(f.length),
		Match: f.number * 0x9e3779b97f4a7c15, Seq: uint32(f.number), Session: uint32(f.number >> 3),
	}
	if f.flags&wire.HasID != 0 {
		h.ID = ^f.number
	}
	if f.flags&wire.HasRange != 0 {
		h.Total, h.Offset = uint32(f.number*7), uint32(f.number*11)
	}
	if f.flags&wire.HasAck != 0 {
		h.Ack = uint32(f.number * 13)
	}
	return h
}

// fill writes the payload, which differs from frame to frame and place to place.
func (f *frame) fill(b []byte) {
	seed := f.number*31 + 7
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, seed)
		seed += 0x0101010101010101
		b = b[8:]
	}
	for i := range b {
		b[i] = byte(seed) + byte(i)
	}
}

// vec cuts the payload in pieces, with off bytes before it that must not be sent.
func (f *frame) vec(scratch []byte) wire.Vec {
	b := scratch[:f.off+f.length]
	for i := range f.off {
		b[i] = 0xee
	}
	f.fill(b[f.off:])
	if f.number%3 != 0 || len(b) < 3 {
		return wire.Vec{First: b}
	}
	third := len(b) / 3
	return wire.Vec{First: b[:third], Rest: [][]byte{nil, b[third : 2*third], b[2*third:]}}
}

func (f *frame) check(t testing.TB, h *wire.Header, payload, scratch []byte) {
	t.Helper()
	if got, want := meant(*h), f.header(); got != want {
		t.Fatalf("frame %d: header %+v, want %+v", f.number, got, want)
	}
	want := scratch[:f.length]
	f.fill(want)
	if string(payload) != string(want) {
		t.Fatalf("frame %d (%v, %d bytes): wrong payload", f.number, f.kind, f.length)
	}
}

func uintptrOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
