package gather

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Limits and sizes of descriptions.
const (
	// MaxPlaces is how many places a description may have.
	MaxPlaces = 257

	placeSize = 16
)

// ErrBadDescription: a peer's description makes no sense.
var ErrBadDescription = errors.New("bad description of memory")

// Place is memory of a peer that its device lets us read.
type Place struct {
	Addr   uint64
	Length uint32 // bytes; not 0
	Key    uint32
}

// Describe appends the byte form of places: address (8), length (4) and key (4) of
// each, all little-endian.
func Describe(dst []byte, places ...Place) []byte {
	le := binary.LittleEndian
	for _, p := range places {
		dst = le.AppendUint64(dst, p.Addr)
		dst = le.AppendUint32(dst, p.Length)
		dst = le.AppendUint32(dst, p.Key)
	}
	return dst
}

// Parse appends to dst the places that a peer has described, and returns them with
// the number of bytes they hold, which is less than 4 GiB.
func Parse(dst []Place, desc []byte) (places []Place, bytes int, err error) {
	if len(desc)%placeSize != 0 || len(desc) > MaxPlaces*placeSize {
		return dst, 0, fmt.Errorf("%w: %d bytes of it", ErrBadDescription, len(desc))
	}
	le := binary.LittleEndian
	sum := uint64(0)
	places = dst
	for ; len(desc) > 0; desc = desc[placeSize:] {
		p := Place{le.Uint64(desc), le.Uint32(desc[8:]), le.Uint32(desc[12:])}
		if p.Length == 0 || p.Addr > math.MaxUint64-uint64(p.Length) {
			return dst, 0, fmt.Errorf("%w: %d bytes at %#x", ErrBadDescription, p.Length, p.Addr)
		}
		sum += uint64(p.Length)
		places = append(places, p)
	}
	if sum > math.MaxUint32 {
		return dst, 0, fmt.Errorf("%w: %d bytes in all", ErrBadDescription, sum)
	}
	return places, int(sum), nil
}
