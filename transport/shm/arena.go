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
	mem     *segment.Mem
	alloc   *arena.Allocator
	leaving int64 // offset of the block that Free is about to give back, or -1
}

// freed has the functions to call before a block is given back. Its lock is taken
// before own's, and held during the calls: one block is given back at a time.
var freed struct {
	sync.Mutex
	tell map[*func(block []byte)]struct{}
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
	b, err := take(n)
	for rest := b; len(rest) > 0; {
		rest = clearSome(rest)
	}
	return b, err
}

// clearedAtOnce bounds for how long the runtime can't stop a goroutine that clears memory whose pages the system has to make first. Until then
// a collection of garbage would wait, and with it all goroutines.
const clearedAtOnce = 1 << 20

// clearSome clears the beginning of b, and returns the rest. The runtime can stop a goroutine where it calls a function, but not in clear.
//
//go:noinline
func clearSome(b []byte) []byte {
	n := min(clearedAtOnce, len(b))
	clear(b[:n])
	return b[n:]
}

// take is Alloc without clearing the memory.
func take(n int) ([]byte, error) {
	own.Lock()
	defer own.Unlock()
	if own.mem == nil {
		m, err := segment.CreateReserve("gomx-arena", arenaSize, arenaLeast)
		if err != nil {
			return nil, fmt.Errorf("alloc %d bytes: %w", n, err)
		}
		own.mem, own.alloc, own.leaving = m, arena.New(int64(m.Len())), -1
	}
	off, err := own.alloc.Alloc(int64(n))
	if err != nil {
		return nil, fmt.Errorf("alloc %d bytes: %w", n, err)
	}
	return own.mem.Bytes()[off : off+int64(n) : off+int64(n)], nil
}

// Free gives memory of Alloc back. The slice must begin where Alloc's began. It
// returns when all functions of WhenFreed have. Safe from any goroutine, but not
// from those functions.
func Free(b []byte) error {
	freed.Lock()
	defer freed.Unlock()
	off, block, err := leave(b[:cap(b)])
	if err != nil {
		return err
	}
	for f := range freed.tell {
		(*f)(block)
	}
	own.Lock()
	defer own.Unlock()
	if len(block) >= punchFrom {
		_ = own.mem.PunchHole(int(off), len(block)) // else the pages stay ours, no harm
	}
	own.leaving = -1
	_, err = own.alloc.Free(off)
	return err
}

// leave returns the block that begins where b does. From now on Block doesn't.
func leave(b []byte) (off int64, block []byte, err error) {
	own.Lock()
	defer own.Unlock()
	at, off, block := around(b)
	if block == nil || at != off {
		return 0, nil, arena.ErrNotAllocated
	}
	own.leaving = off
	return off, block, nil
}

// Block returns the block of Alloc's memory that b lies in, to its end: that may
// be some bytes more than were asked for. ok is false if b is empty, lies outside of
// all blocks or across two of them, or lies in a block that is being freed. Safe from
// any goroutine.
func Block(b []byte) (block []byte, ok bool) {
	own.Lock()
	defer own.Unlock()
	_, off, block := around(b)
	if block == nil || off == own.leaving {
		return nil, false
	}
	return block, true
}

// around returns where b lies in the arena, and the block around all of it, which
// is nil if there is none, and where that begins. Own is locked.
func around(b []byte) (at, off int64, block []byte) {
	if own.mem == nil {
		return 0, 0, nil
	}
	at, ok := own.mem.Contains(b)
	if !ok {
		return 0, 0, nil
	}
	off, size, ok := own.alloc.Around(at)
	if !ok || int64(len(b)) > size-(at-off) {
		return 0, 0, nil
	}
	return at, off, own.mem.Bytes()[off : off+size : off+size]
}

// WhenFreed has f called with each block that is freed, while it is still there,
// but Block does not find it any more; f is called by one goroutine at a time. After
// forget has returned f is not called any more, so forget must not be called with a
// lock held that f takes; Block may be. f must not call Free, WhenFreed or forget.
// Safe from any goroutine.
func WhenFreed(f func(block []byte)) (forget func()) {
	freed.Lock()
	defer freed.Unlock()
	if freed.tell == nil {
		freed.tell = map[*func(block []byte)]struct{}{}
	}
	freed.tell[&f] = struct{}{}
	return func() {
		freed.Lock()
		defer freed.Unlock()
		delete(freed.tell, &f)
	}
}

// arenaRange is where an arena lies in its owner's memory.
type arenaRange struct{ base, size uint64 }

const arenaRangeSize = 16

func (a arenaRange) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, a.base)
	return binary.LittleEndian.AppendUint64(b, a.size)
}

func parseArenaRange(b []byte) arenaRange {
	return arenaRange{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
}

func ownArena() (at arenaRange, fd int, ok bool) {
	own.Lock()
	defer own.Unlock()
	if own.mem == nil {
		return at, -1, false
	}
	return arenaRange{own.mem.Base(), uint64(own.mem.Len())}, own.mem.FD(), true
}

// announce sends the peer our arena if v lies in it. It was made after the handshake.
// Until the peer has mapped it, the peer copies in another way.
func (l *link) announce(v *wire.Vec) {
	at, fd, ok := ownArena()
	if !ok {
		return
	}
	if _, in := own.mem.Contains(v.First); !in {
		return
	}
	l.announced = true
	_ = segment.SendFDs(l.conn, at.append(nil), fd)
}

// farArena is a peer's arena, mapped here.
type farArena struct {
	at  arenaRange
	mem *segment.Mem
}

// mapArena maps a peer's arena. If that fails, there are other ways to copy.
func (l *link) mapArena(at arenaRange, fd int) {
	if l.port.opt.NoArena || l.far.Load() != nil || at.size > arenaSize {
		closeFDs([]int{fd})
		return
	}
	m, err := segment.Map(fd, int(at.size), int(at.size))
	if err != nil {
		l.port.events.Count(transport.CorruptFrames)
		return
	}
	m.CloseFD()
	l.far.Store(&farArena{at, m})
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

// copy copies the n bytes that begin at off, of segments that lie in the arena as of v.
func (f *farArena) copy(v *wire.Vec, list []cma.Remote, off, n int) {
	at := 0 // where in all bytes the segment begins
	for _, s := range list {
		begin := s.Addr - f.at.base
		part := f.mem.Bytes()[begin : begin+uint64(s.Len)]
		from, to := max(off-at, 0), min(off+n-at, len(part))
		if from < to {
			scatter(v, at+from, part[from:to])
		}
		at += len(part)
	}
}

func (f *farArena) holds(s cma.Remote) bool {
	return s.Addr >= f.at.base && s.Addr-f.at.base <= f.at.size && uint64(s.Len) <= f.at.size-(s.Addr-f.at.base)
}
