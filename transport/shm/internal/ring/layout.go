package ring

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"gomx/transport/wire"
)

// Sizes of a ring.
const (
	Slots    = 1024
	Line     = 64
	DataSize = 1 << 20
	Size     = Line + Slots*slotSize + DataSize // bytes of one direction

	// MaxFrame is the largest payload of a frame.
	MaxFrame = 64 << 10

	// MaxCompact is the largest payload of a message that takes one slot.
	MaxCompact = 16

	slotSize        = Line / 2
	slotMask        = Slots - 1
	generationShift = 10 // 1<<generationShift == Slots
	tailLen         = 24

	compact = wire.Flags(1 << 7)
	filler  = wire.Kind(0)
)

// slot is half a line, as a compact frame uses it.
type slot struct {
	word0 uint64
	match uint64
	tail  [MaxCompact]byte
}

// wide is a line, as any other frame uses it.
type wide struct {
	word0  uint64
	match  uint64
	word2  uint64
	offset uint64
	mark   uint64
	tail   [tailLen]byte
}

// The layout is part of the protocol between processes.
const (
	_ = -(unsafe.Sizeof(slot{}) ^ slotSize)
	_ = -(unsafe.Sizeof(wide{}) ^ Line)
	_ = -uint(Slots ^ 1<<generationShift)
)

// shared is the memory of one direction.
type shared struct {
	position *uint64
	wanted   *uint32 // the writer waits for room
	slots    *[Slots]slot
	data     []byte
}

func share(mem []byte) (shared, error) {
	if len(mem) < Size {
		return shared{}, fmt.Errorf("ring needs %d bytes, has %d", Size, len(mem))
	}
	base := unsafe.Pointer(unsafe.SliceData(mem))
	if uintptr(base)%Line != 0 {
		return shared{}, fmt.Errorf("ring memory is not aligned to %d bytes", Line)
	}
	return shared{
		position: (*uint64)(base),
		wanted:   (*uint32)(unsafe.Add(base, 8)),
		slots:    (*[Slots]slot)(unsafe.Add(base, Line)),
		data:     mem[Line+Slots*slotSize : Size],
	}, nil
}

func stampOf(index uint64) uint16 { return uint16(index>>generationShift) + 1 }

// wide returns the line that slot i begins. i is even.
func (s *shared) wide(i uint64) *wide {
	return (*wide)(unsafe.Pointer(&s.slots[i&(slotMask-1)]))
}

func (s *shared) loadPosition() uint64 { return atomic.LoadUint64(s.position) }
