//go:build linux

package shm

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"

	"gomx/transport"
	"gomx/transport/internal/segment"
	"gomx/transport/shm/internal/arena"
	"gomx/transport/shm/internal/cma"
	"gomx/transport/wire"
)

// The process's arena: one, since its memory may be sent over any endpoint. It
// is made by the first Alloc and takes memory as its blocks are used.
var own struct {
	sync.Mutex
	mem   *segment.Mem
	alloc *arena.Allocator
}

const (
	arenaSize  = min(16<<30, math.MaxInt/8) // of address space
	arenaLeast = 64 << 20
	punchFrom  = 1 << 20 // larger blocks give their pages back when freed
)

// Alloc returns n bytes of memory that peers on this host can copy from without
// a system call. It is not garbage-collected: give it back with Free. Safe from
// any goroutine.
func Alloc(n int) ([]byte, error) {
	own.Lock()
	defer own.Unlock()
	if own.mem == nil {
		m, err := segment.CreateReserve("gomx-arena", arenaSize, arenaLeast)
		if err != nil {
			return nil, fmt.Errorf("alloc %d bytes: %w", n, err)
		}
		own.mem, own.alloc = m, arena.New(int64(m.Len()))
	}
	off, err := own.alloc.Alloc(int64(n))
	if err != nil {
		return nil, fmt.Errorf("alloc %d bytes: %w", n, err)
	}
	b := own.mem.Bytes()[off : off+int64(n) : off+int64(n)]
	clear(b)
	return b, nil
}

// Free gives memory of Alloc back. The slice must begin where Alloc's began.
func Free(b []byte) error {
	own.Lock()
	defer own.Unlock()
	if own.mem == nil {
		return fmt.Errorf("free: %w", arena.ErrNotAllocated)
	}
	off, ok := own.mem.Contains(b[:cap(b)])
	if !ok {
		return fmt.Errorf("free: %w", arena.ErrNotAllocated)
	}
	if size, ok := own.alloc.Size(off); ok && size >= punchFrom {
		_ = own.mem.PunchHole(int(off), int(size)) // else the pages stay ours, no harm
	}
	_, err := own.alloc.Free(off)
	return err
}

// arenaPlace is where an arena lies in its owner's memory.
type arenaPlace struct{ base, size uint64 }

const placeSize = 16

func (a arenaPlace) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, a.base)
	return binary.LittleEndian.AppendUint64(b, a.size)
}

func parsePlace(b []byte) arenaPlace {
	return arenaPlace{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
}

func ownArena() (place arenaPlace, fd int, ok bool) {
	own.Lock()
	defer own.Unlock()
	if own.mem == nil {
		return place, -1, false
	}
	return arenaPlace{own.mem.Base(), uint64(own.mem.Len())}, own.mem.FD(), true
}

// announce tells the peer about our arena if v lies in it and was made after we
// met. Until the peer has mapped it, it copies in another way.
func (l *link) announce(v *wire.Vec) {
	place, fd, ok := ownArena()
	if !ok {
		return
	}
	if _, in := own.mem.Contains(v.First); !in {
		return
	}
	l.told = true
	_ = segment.SendFDs(l.conn, place.append(nil), fd)
}

// farArena is a peer's arena, mapped here.
type farArena struct {
	place arenaPlace
	mem   *segment.Mem
}

// mapArena maps a peer's arena. If that fails, there are other ways to copy.
func (l *link) mapArena(place arenaPlace, fd int) {
	if l.port.opt.NoArena || l.far.Load() != nil || place.size > arenaSize {
		closeFDs([]int{fd})
		return
	}
	m, err := segment.Map(fd, int(place.size), int(place.size))
	if err != nil {
		l.port.events.Count(transport.CorruptFrames)
		return
	}
	m.CloseFD()
	l.far.Store(&farArena{place, m})
	if l.released.Load() { // meanwhile
		l.unmapArena()
	}
}

func (l *link) unmapArena() {
	if far := l.far.Swap(nil); far != nil {
		_ = far.mem.Close()
	}
}

// holdsAll reports whether all segments lie in the arena.
func (f *farArena) holdsAll(list []cma.Remote) bool {
	for _, s := range list {
		if !f.holds(s) {
			return false
		}
	}
	return true
}

// copy copies n bytes into v, out of segments that lie in the arena.
func (f *farArena) copy(v *wire.Vec, list []cma.Remote, n int) {
	done := 0
	for _, s := range list {
		off := s.Addr - f.place.base
		part := f.mem.Bytes()[off : off+uint64(s.Len)]
		part = part[:min(len(part), n-done)]
		done += spread(v, done, part)
	}
}

func (f *farArena) holds(s cma.Remote) bool {
	return s.Addr >= f.place.base && s.Addr-f.place.base <= f.place.size && uint64(s.Len) <= f.place.size-(s.Addr-f.place.base)
}
