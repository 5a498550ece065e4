//go:build linux

package shm

import (
	"encoding/binary"
	"sync/atomic"

	"gomx/transport/internal/segment"
	"gomx/transport/shm/internal/cma"
	"gomx/transport/wire"
)

// A peer may read memory that we have exposed at any time, also when the send it
// belongs to has just ended and the buffer has been used again. So an exposure has
// a place in the pair's first page, with a generation that changes when it ends:
// bytes count only if the generation is still the one described after they were
// copied. The side that dialled has the first half of the page.
const (
	places     = page / 2 / 8
	shared     = 0 // the place of exposures that find no other: they end together
	exposeSize = 4 + 8
)

// exposures is our half of the page.
type exposures struct {
	generation [places]*uint64
	free       []uint32
}

func exposureTable(mem []byte, dialled bool) (words [places]*uint64, ok bool) {
	base := 0
	if !dialled {
		base = page / 2
	}
	for i := range words {
		if words[i], ok = segment.Word64(mem, base+8*i); !ok {
			return words, false
		}
	}
	return words, true
}

func (e *exposures) begin() (place uint32, generation uint64) {
	if e.free == nil {
		for i := uint32(places) - 1; i > shared; i-- {
			e.free = append(e.free, i)
		}
	}
	if n := len(e.free); n > 0 {
		place = e.free[n-1]
		e.free = e.free[:n-1]
	}
	return place, atomic.LoadUint64(e.generation[place])
}

func (e *exposures) end(place uint32) {
	atomic.AddUint64(e.generation[place], 1)
	if place != shared {
		e.free = append(e.free, place)
	}
}

// Expose describes where v lies: place and generation, and what cma.Describe
// says.
func (l *link) Expose(dst []byte, v *wire.Vec) ([]byte, uint64) {
	if !l.told && !l.port.opt.NoArena {
		l.announce(v)
	}
	place, generation := l.exposed.begin()
	dst = binary.LittleEndian.AppendUint32(dst, place)
	dst = binary.LittleEndian.AppendUint64(dst, generation)
	return cma.Describe(dst, v), uint64(place)
}

// Unexpose makes copies that are not finished by now worthless.
func (l *link) Unexpose(token uint64) {
	if l.out != nil {
		l.exposed.end(uint32(token))
	}
}

// exposure is one that the peer has described.
type exposure struct {
	word       *uint64
	generation uint64
}

// parseExposure reads what stands in front of a description.
func (l *link) parseExposure(desc []byte) (x exposure, rest []byte, ok bool) {
	if len(desc) < exposeSize {
		return x, nil, false
	}
	place := binary.LittleEndian.Uint32(desc)
	if place >= places {
		return x, nil, false
	}
	x = exposure{l.theirs[place], binary.LittleEndian.Uint64(desc[4:])}
	return x, desc[exposeSize:], true
}

// stands reports whether the exposure has not ended. Asked after copying, it
// speaks for the bytes: they were read before.
func (x *exposure) stands() bool { return current(x.word) == x.generation }
