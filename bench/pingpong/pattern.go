package pingpong

import (
	"encoding/binary"
	"fmt"
)

// Contents of a message are words that depend on their place and on a seed, so
// that neither a part of another message nor one in the wrong place passes.

const (
	multiplier = 0x9e3779b97f4a7c15
	odd        = 0xd1b54a32d192ed03
)

func word(seed uint64, place int) uint64 {
	w := (seed+1)*multiplier + uint64(place)*odd
	return w ^ w>>29
}

// Fill writes the contents that belong to a seed into b. Safe from any goroutine.
func Fill(b []byte, seed uint64) {
	place := 0
	for ; len(b) >= 8; b = b[8:] {
		binary.LittleEndian.PutUint64(b, word(seed, place))
		place++
	}
	for w := word(seed, place); len(b) > 0; b = b[1:] {
		b[0] = byte(w)
		w >>= 8
	}
}

// Verify returns an ErrCorrupt that names the first byte of b that differs from what
// Fill writes with the seed. Safe from any goroutine.
func Verify(b []byte, seed uint64) error {
	for i := 0; i < len(b); i++ {
		w := word(seed, i/8)
		if i%8 == 0 && len(b)-i >= 8 && binary.LittleEndian.Uint64(b[i:]) == w {
			i += 7
			continue
		}
		if want := byte(w >> (i % 8 * 8)); b[i] != want {
			return fmt.Errorf("%w: byte %d of %d is %#02x, should be %#02x", ErrCorrupt, i, len(b), b[i], want)
		}
	}
	return nil
}
