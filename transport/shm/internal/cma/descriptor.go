//go:build linux

package cma

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"gomx/transport/wire"
)

// Limits and sizes of memory descriptors.
const (
	// MaxSegments is how many segments a memory descriptor may have.
	MaxSegments = 257
	// MaxDescriptor is the size of the largest memory descriptor, bytes.
	MaxDescriptor = countSize + MaxSegments*segmentSize

	countSize   = 4
	segmentSize = 12
)

// ErrBadDescriptor means that a peer's memory descriptor makes no sense.
var ErrBadDescriptor = errors.New("bad memory descriptor")

// AppendDescriptor appends to dst where the bytes of v lie in this process: a count of 4
// bytes, then address (8) and length (4) of each segment that isn't empty, all
// little-endian. v holds less than 4 GiB in at most MaxSegments segments. The
// caller keeps v's memory alive and unmoved, and says to the peer when it ends.
func AppendDescriptor(dst []byte, v *wire.Vec) []byte {
	at, count := len(dst), uint32(0)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	for i := range v.Segments() {
		part := v.Segment(i)
		if len(part) == 0 {
			continue
		}
		dst = binary.LittleEndian.AppendUint64(dst, fixedAddress(part))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(part)))
		count++
	}
	binary.LittleEndian.PutUint32(dst[at:], count)
	return dst
}

// ParseDescriptor decodes what a peer's AppendDescriptor has appended. It returns the
// segments, which stay valid until the next call, and how many bytes they hold.
func (s *Scratch) ParseDescriptor(desc []byte) (list []Remote, bytes int, err error) {
	if len(desc) < countSize {
		return nil, 0, fmt.Errorf("%w: %d bytes", ErrBadDescriptor, len(desc))
	}
	count, desc := binary.LittleEndian.Uint32(desc), desc[countSize:]
	if count > MaxSegments || len(desc) != int(count)*segmentSize {
		return nil, 0, fmt.Errorf("%w: %d segments in %d bytes", ErrBadDescriptor, count, len(desc))
	}
	s.parsed = s.parsed[:0]
	sum := uint64(0)
	for ; len(desc) > 0; desc = desc[segmentSize:] {
		r := Remote{Addr: binary.LittleEndian.Uint64(desc), Len: binary.LittleEndian.Uint32(desc[8:])}
		if r.Len == 0 || r.Addr > math.MaxInt64-uint64(r.Len) {
			return nil, 0, fmt.Errorf("%w: %d bytes at %#x", ErrBadDescriptor, r.Len, r.Addr)
		}
		sum += uint64(r.Len)
		s.parsed = append(s.parsed, r)
	}
	if sum > min(math.MaxUint32, math.MaxInt) {
		return nil, 0, fmt.Errorf("%w: %d bytes in all", ErrBadDescriptor, sum)
	}
	return s.parsed, int(sum), nil
}

// The compiler can't see that never stays false, so what fixedAddress is given
// has to live on the heap, where it doesn't move.
var (
	never bool
	sink  []byte
)

func fixedAddress(b []byte) uint64 {
	if never {
		sink, never = b, len(sink) > 0
	}
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
}
