//go:build linux

package shm

import (
	"encoding/binary"
	"sync/atomic"
	"time"

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

	// What is said here is not a generation, but what the owner of the table copies of the peer's: 1 more than the slot of
	// the export, or 0. Whoever ends an export changes its generation and then looks here; whoever copies writes here, and
	// then looks at the generation. So no copying of a piece begins after the end, and that which is going on is waited for.
	reading = exportSlots - 1
)

// readBound is how long the end of an export waits for a peer that copies. It takes much less for a piece, unless the peer has been
// stopped meanwhile, or has lost its core.
const readBound = 100 * time.Millisecond

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
	} else if e.used+1 < reading {
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

// endAll ends all exports there may be.
func (e *exports) endAll() {
	for slot := range e.used + 1 {
		word, _ := e.table.at(slot)
		atomic.AddUint64(word, 1)
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
func (l *link) Unexport(token uint64, read bool) {
	if l.out == nil {
		return
	}
	if l.exported.end(uint32(token)); !read {
		l.awaitReader(func(slot uint64) bool { return slot == token })
	}
}

// awaitReader waits while the peer copies what lies behind one of these slots. It does not wait for one that has kept it waiting before.
func (l *link) awaitReader(these func(slot uint64) bool) {
	word, _ := l.theirs.at(reading)
	for began := time.Now(); !l.tardy && l.ended.Load() == nil; time.Sleep(10 * time.Microsecond) {
		copied := atomic.LoadUint64(word)
		if copied == 0 || !these(copied-1) {
			return
		}
		l.tardy = time.Since(began) > readBound
	}
}

// export is an export of the peer, taken from its memory descriptor.
type export struct {
	word       *uint64
	slot       uint32
	generation uint64
}

// parseExport reads slot and generation from a memory descriptor, and returns the rest of it.
func (l *link) parseExport(desc []byte) (x export, rest []byte, ok bool) {
	if len(desc) < exportSize {
		return x, nil, false
	}
	x.slot = binary.LittleEndian.Uint32(desc)
	x.word, ok = l.theirs.at(x.slot)
	x.generation = binary.LittleEndian.Uint64(desc[4:])
	return x, desc[exportSize:], ok
}

// stands reports whether the export has not ended. If it has not ended when it is
// called after copying, the copied bytes are those of the export.
func (x *export) stands() bool { return current(x.word) == x.generation }
