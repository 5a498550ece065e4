//go:build linux

package shm

import (
	"encoding/binary"
	"sync/atomic"

	"gomx/transport/internal/segment"
	"gomx/transport/shm/internal/cma"
	"gomx/transport/wire"
)

// A peer may read memory that we have exported at any time, also when the send it
// belongs to has just ended and the buffer has been used again. So an export has
// a place in a table of the pair's segment, with a generation that changes when it ends:
// bytes count only if the generation is still the one described after they were
// copied. There are as many places as a program has messages outstanding to one peer that
// is late; what is not used of the table takes no memory.
const (
	places     = 1 << 16
	tableSpan  = 8 * places
	shared     = 0 // the place of exports that find no other: they end together
	exportSize = 4 + 8
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

// exports is what we have exported to the peer.
type exports struct {
	table generations
	free  []uint32
	used  uint32 // places up to that have been used
}

func (e *exports) begin() (place uint32, generation uint64) {
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

func (e *exports) end(place uint32) {
	word, _ := e.table.at(place)
	atomic.AddUint64(word, 1)
	if place != shared {
		e.free = append(e.free, place)
	}
}

// Export describes where v lies: place and generation, and what cma.AppendDescriptor
// says.
func (l *link) Export(dst []byte, v *wire.Vec) ([]byte, uint64) {
	if !l.told && !l.port.opt.NoArena {
		l.announce(v)
	}
	place, generation := l.exported.begin()
	dst = binary.LittleEndian.AppendUint32(dst, place)
	dst = binary.LittleEndian.AppendUint64(dst, generation)
	return cma.AppendDescriptor(dst, v), uint64(place)
}

// Unexport makes copies that are not finished by now worthless.
func (l *link) Unexport(token uint64) {
	if l.out != nil {
		l.exported.end(uint32(token))
	}
}

// export is one that the peer has described.
type export struct {
	word       *uint64
	generation uint64
}

// parseExport reads what stands in front of a memory descriptor.
func (l *link) parseExport(desc []byte) (x export, rest []byte, ok bool) {
	if len(desc) < exportSize {
		return x, nil, false
	}
	x.word, ok = l.theirs.at(binary.LittleEndian.Uint32(desc))
	x.generation = binary.LittleEndian.Uint64(desc[4:])
	return x, desc[exportSize:], ok
}

// stands reports whether the export has not ended. Asked after copying, it
// speaks for the bytes: they were read before.
func (x *export) stands() bool { return current(x.word) == x.generation }
