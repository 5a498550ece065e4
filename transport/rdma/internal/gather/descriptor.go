package gather

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Limits and sizes of memory descriptors.
const (
	// MaxSegments is how many segments a memory descriptor may have.
	MaxSegments = 257

	segmentSize = 16
)

// ErrBadDescriptor means that a peer's memory descriptor makes no sense.
var ErrBadDescriptor = errors.New("bad memory descriptor")

// Segment is memory of a peer that its device lets us read.
type Segment struct {
	Addr   uint64
	Length uint32 // bytes; not 0
	Key    uint32
}

// AppendDescriptor appends the byte form of segments: address (8), length (4) and key (4) of
// each, all little-endian.
func AppendDescriptor(dst []byte, segments ...Segment) []byte {
	le := binary.LittleEndian
	for _, p := range segments {
		dst = le.AppendUint64(dst, p.Addr)
		dst = le.AppendUint32(dst, p.Length)
		dst = le.AppendUint32(dst, p.Key)
	}
	return dst
}

// ParseDescriptor appends to dst the segments that a peer has described, and returns them with
// the number of bytes they hold, which is less than 4 GiB.
func ParseDescriptor(dst []Segment, desc []byte) (segments []Segment, bytes int, err error) {
	if len(desc)%segmentSize != 0 || len(desc) > MaxSegments*segmentSize {
		return dst, 0, fmt.Errorf("%w: %d bytes of it", ErrBadDescriptor, len(desc))
	}
	le := binary.LittleEndian
	sum := uint64(0)
	segments = dst
	for ; len(desc) > 0; desc = desc[segmentSize:] {
		p := Segment{le.Uint64(desc), le.Uint32(desc[8:]), le.Uint32(desc[12:])}
		if p.Length == 0 || p.Addr > math.MaxUint64-uint64(p.Length) {
			return dst, 0, fmt.Errorf("%w: %d bytes at %#x", ErrBadDescriptor, p.Length, p.Addr)
		}
		sum += uint64(p.Length)
		segments = append(segments, p)
	}
	if sum > math.MaxUint32 {
		return dst, 0, fmt.Errorf("%w: %d bytes in all", ErrBadDescriptor, sum)
	}
	return segments, int(sum), nil
}
