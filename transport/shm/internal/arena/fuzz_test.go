package arena_test

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gomx/transport/shm/internal/arena"
)

const (
	page     = 4096
	slabSize = 64 << 10
)

var smallSizes = []int64{64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048}

// twin knows which 64-byte units of the arena belong to which block, and nothing
// of how the allocator came to that.
type twin struct {
	t     *testing.T
	a     *arena.Allocator
	live  map[int64]int64 // size by offset
	order []int64
	units []bool
	inUse int64
	peak  int64
}

func newTwin(t *testing.T, size int64) *twin {
	a := arena.New(size)
	if a.Capacity() != size/page*page {
		t.Fatalf("an arena of %d bytes has the capacity %d", size, a.Capacity())
	}
	return &twin{t: t, a: a, live: map[int64]int64{}, units: make([]bool, a.Capacity()/64)}
}

func (w *twin) alloc(n int64) {
	w.t.Helper()
	fits := w.fits(n)
	largest := w.largestRun(w.freePages())
	off, err := w.a.Alloc(n)
	if err != nil {
		var full *arena.FullError
		if !errors.As(err, &full) {
			w.t.Fatalf("Alloc(%d): %v", n, err)
		}
		if fits || full.Asked != n || full.Free != w.a.Capacity()-w.inUse || full.Largest != largest {
			w.t.Fatalf("Alloc(%d): %v; fits %v, %d free, largest hole %d", n, err, fits, w.a.Capacity()-w.inUse, largest)
		}
		return
	}
	size, ok := w.a.Size(off)
	if !fits || !ok || size < n || off < 0 || off > w.a.Capacity()-size {
		w.t.Fatalf("Alloc(%d) = %d with size %d %v; fits %v", n, off, size, ok, fits)
	}
	if off%64 != 0 || size%64 != 0 || size >= page && (off%page != 0 || size%page != 0) {
		w.t.Fatalf("a block of %d lies at %d", size, off)
	}
	w.mark(off, size, true)
	w.live[off] = size
	w.order = append(w.order, off)
	w.inUse += size
	w.peak = max(w.peak, w.inUse)
}

func (w *twin) mark(off, size int64, inUse bool) {
	w.t.Helper()
	for unit := off / 64; unit < (off+size)/64; unit++ {
		if w.units[unit] == inUse {
			w.t.Fatalf("block at %d of %d bytes overlaps another", off, size)
		}
		w.units[unit] = inUse
	}
}

func (w *twin) freeNth(i int) {
	w.t.Helper()
	if len(w.order) == 0 {
		return
	}
	i %= len(w.order)
	off := w.order[i]
	w.order[i] = w.order[len(w.order)-1]
	w.order = w.order[:len(w.order)-1]
	size, err := w.a.Free(off)
	if err != nil || size != w.live[off] {
		w.t.Fatalf("Free(%d) = %d, %v; want %d", off, size, err, w.live[off])
	}
	w.mark(off, size, false)
	w.inUse -= size
	delete(w.live, off)
}

func (w *twin) freeAnywhere(off int64) {
	w.t.Helper()
	if _, ok := w.live[off]; ok {
		return
	}
	if size, err := w.a.Free(off); !errors.Is(err, arena.ErrNotAllocated) {
		w.t.Fatalf("Free(%d) of nothing = %d, %v", off, size, err)
	}
}

// slabClasses finds the windows in which small blocks lie, and their class.
func (w *twin) slabClasses() map[int64]int64 {
	slabs := map[int64]int64{}
	for off, size := range w.live {
		if size < page {
			slabs[off/slabSize] = size
		}
	}
	return slabs
}

// freePages tells of each page whether it belongs to no block and no slab.
func (w *twin) freePages() []bool {
	free := make([]bool, w.a.Capacity()/page)
	slabs := w.slabClasses()
	for p := range free {
		_, inSlab := slabs[int64(p)*page/slabSize]
		free[p] = !inSlab && !w.units[p*page/64]
	}
	return free
}

func (w *twin) largestRun(free []bool) int64 {
	var run, largest int64
	for _, isFree := range free {
		run++
		if !isFree {
			run = 0
		}
		largest = max(largest, run)
	}
	return largest * page
}

func (w *twin) fits(n int64) bool {
	free := w.freePages()
	if w.largestRun(free) >= n {
		return true // any small block fits a page
	}
	return n <= smallSizes[len(smallSizes)-1] && w.slotFree(n)
}

func (w *twin) slotFree(n int64) bool {
	var class int64
	for _, class = range smallSizes {
		if class >= n {
			break
		}
	}
	for number, size := range w.slabClasses() {
		if size != class {
			continue
		}
		for slot := range slabSize / class {
			if !w.units[(number*slabSize+slot*class)/64] {
				return true
			}
		}
	}
	return false
}

func (w *twin) check() {
	w.t.Helper()
	if w.a.InUse() != w.inUse || w.a.Peak() != w.peak {
		w.t.Fatalf("in use %d, peak %d; want %d, %d", w.a.InUse(), w.a.Peak(), w.inUse, w.peak)
	}
	for off, want := range w.live {
		if size, ok := w.a.Size(off); !ok || size != want {
			w.t.Fatalf("Size(%d) = %d, %v; want %d", off, size, ok, want)
		}
		for _, at := range []int64{off, off + want/2, off + want - 1} {
			if start, size, ok := w.a.Around(at); !ok || start != off || size != want {
				w.t.Fatalf("Around(%d) = %d, %d, %v; want %d, %d", at, start, size, ok, off, want)
			}
		}
	}
	for unit, inUse := range w.units {
		if start, size, ok := w.a.Around(int64(unit)*64 + 1); ok != inUse {
			w.t.Fatalf("Around(%d) = %d, %d, %v; in use: %v", unit*64+1, start, size, ok, inUse)
		}
	}
	for _, at := range []int64{-1, math.MinInt64, w.a.Capacity(), math.MaxInt64} {
		if _, _, ok := w.a.Around(at); ok {
			w.t.Fatalf("a block around %d", at)
		}
	}
}

// finish frees everything, after which the whole arena must be one hole.
func (w *twin) finish() {
	w.t.Helper()
	w.check()
	for len(w.order) > 0 {
		w.freeNth(0)
	}
	w.check()
	if w.a.Capacity() > 0 {
		w.alloc(w.a.Capacity())
	}
}

func (w *twin) run(script []byte) {
	w.t.Helper()
	for len(script) >= 3 {
		op, arg := script[0], int64(binary.LittleEndian.Uint16(script[1:]))
		script = script[3:]
		switch op % 8 {
		case 0, 1:
			w.alloc(arg%2048 + 1)
		case 2:
			w.alloc(arg + 1)
		case 3:
			w.alloc((arg + 1) * 16)
		case 4:
			w.freeAnywhere(arg * 64)
		default:
			w.freeNth(int(arg))
		}
	}
	w.finish()
}

func FuzzTwin(f *testing.F) {
	f.Add(uint16(0), []byte{0, 1, 0})
	f.Add(uint16(15), []byte{0, 1, 0, 2, 0, 16, 5, 0, 0, 0, 255, 7})
	f.Add(uint16(64), []byte{3, 255, 15, 0, 63, 0, 0, 64, 0, 4, 1, 0, 6, 1, 0, 2, 255, 255})
	f.Fuzz(func(t *testing.T, pages uint16, script []byte) {
		newTwin(t, int64(pages%96)*page+int64(pages%page)).run(script[:min(len(script), 240)])
	})
}

func TestAgainstTwin(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 7))
		script := make([]byte, 3000)
		for i := range script {
			script[i] = byte(rng.Uint32())
		}
		newTwin(t, int64(rng.IntN(200))*page).run(script)
	}
}
