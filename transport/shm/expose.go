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
// a place in a table of the pair's segment, with a generation that changes when it ends:
// bytes count only if the generation is still the one described after they were
// copied. There are as many places as a program has messages outstanding to one peer that
// is late; what is not used of the table takes no memory.
const (
	places     = 1 << 16
	tableSpan  = 8 * places
	shared     = 0 // the place of exposures that find no other: they end together
	exposeSize = 4 + 8
)

// generations is the table of one side.
type generations []byte

func generationsOf(pair []byte, dialled bool) generations {
	if dialled {
		return pair[:tableSpan]
	}
	return pair[tableSpan : 2*tableSpan]
}

// at returns the generation of a place. False: there is no such place, or the table is not aligned.
func (g generations) at(place uint32) (*uint64, bool) {
	if place >= places {
		return nil, false
	}
	return segment.Word64(g, int(8*place))
}

// exposures is what we have exposed to the peer.
type exposures struct {
	table generations
	free  []uint32
	used  uint32 // places up to that have been used
}

func (e *exposures) begin() (place uint32, generation uint64) {
	if n := len(e.free); n > 0 {
		place = e.free[n-1]
		e.free = e.free[:n-1]
	} else if e.used+1 < places {
		e.used++
		place = e.used
	}
	word, _ := e.table.at(place)
	return place, atomic.LoadUint64(word)
}

func (e *exposures) end(place uint32) {
	word, _ := e.table.at(place)
	atomic.AddUint64(word, 1)
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
	x.word, ok = l.theirs.at(binary.LittleEndian.Uint32(desc))
	x.generation = binary.LittleEndian.Uint64(desc[4:])
	return x, desc[exposeSize:], ok
}

// stands reports whether the exposure has not ended. Asked after copying, it
// speaks for the bytes: they were read before.
func (x *exposure) stands() bool { return current(x.word) == x.generation }
