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
// belongs to has just ended and the buffer is in use again. So an export has a slot in
// a table of the pair's segment. The slot has a generation that changes when the export
// ends. The peer accepts the bytes it has copied only if the generation is still that
// of the memory descriptor. There are enough slots for all messages that a program
// usually has outstanding to a slow peer. Unused slots take no memory.
const (
	exportSlots = 1 << 16
	tableSpan   = 8 * exportSlots
	shared      = 0 // the slot of exports that find no free one: they end together
	exportSize  = 4 + 8
)

// generations is the table of one side.
type generations []byte

func generationsOf(pair []byte, dialled bool) generations {
	if dialled {
		return pair[:tableSpan]
	}
	return pair[tableSpan : 2*tableSpan]
}

// at returns the generation of a slot. False: there is no such slot, or the table is not aligned.
func (g generations) at(slot uint32) (*uint64, bool) {
	if slot >= exportSlots {
		return nil, false
	}
	return segment.Word64(g, int(8*slot))
}

// exports are the exports to the peer that have not ended.
type exports struct {
	table generations
	free  []uint32
	used  uint32 // slots up to this one have been used
}

func (e *exports) begin() (slot uint32, generation uint64) {
	if n := len(e.free); n > 0 {
		slot = e.free[n-1]
		e.free = e.free[:n-1]
	} else if e.used+1 < exportSlots {
		e.used++
		slot = e.used
	}
	word, _ := e.table.at(slot)
	return slot, atomic.LoadUint64(word)
}

func (e *exports) end(slot uint32) {
	word, _ := e.table.at(slot)
	atomic.AddUint64(word, 1)
	if slot != shared {
		e.free = append(e.free, slot)
	}
}

// Export appends a memory descriptor of v: slot and generation of the export, and
// the addresses that cma.AppendDescriptor appends.
func (l *link) Export(dst []byte, v *wire.Vec) ([]byte, uint64) {
	if !l.announced && !l.port.opt.NoArena {
		l.announce(v)
	}
	slot, generation := l.exported.begin()
	dst = binary.LittleEndian.AppendUint32(dst, slot)
	dst = binary.LittleEndian.AppendUint64(dst, generation)
	return cma.AppendDescriptor(dst, v), uint64(slot)
}

// Unexport ends the export. The peer discards copies that are not finished by then.
func (l *link) Unexport(token uint64) {
	if l.out != nil {
		l.exported.end(uint32(token))
	}
}

// export is an export of the peer, taken from its memory descriptor.
type export struct {
	word       *uint64
	generation uint64
}

// parseExport reads slot and generation from a memory descriptor, and returns the rest of it.
func (l *link) parseExport(desc []byte) (x export, rest []byte, ok bool) {
	if len(desc) < exportSize {
		return x, nil, false
	}
	x.word, ok = l.theirs.at(binary.LittleEndian.Uint32(desc))
	x.generation = binary.LittleEndian.Uint64(desc[4:])
	return x, desc[exportSize:], ok
}

// stands reports whether the export has not ended. If it has not ended when it is
// called after copying, the copied bytes are those of the export.
func (x *export) stands() bool { return current(x.word) == x.generation }
