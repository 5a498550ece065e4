package arena_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"gomx/transport/shm/internal/arena"
)

func mustAlloc(t *testing.T, a *arena.Allocator, n int64) int64 {
	t.Helper()
	off, err := a.Alloc(n)
	if err != nil {
		t.Fatalf("Alloc(%d): %v", n, err)
	}
	return off
}

func mustFree(t *testing.T, a *arena.Allocator, off int64) int64 {
	t.Helper()
	size, err := a.Free(off)
	if err != nil {
		t.Fatalf("Free(%d): %v", off, err)
	}
	return size
}

func TestSizesAndAlignment(t *testing.T) {
	for n, want := range map[int64]int64{
		1: 64, 64: 64, 65: 128, 129: 192, 257: 384, 1025: 1536, 2048: 2048,
		2049: 4096, 4096: 4096, 4097: 8192, 65536: 65536, 65537: 69632,
	} {
		a := arena.New(1 << 20)
		mustAlloc(t, a, 1)
		off := mustAlloc(t, a, n)
		size, ok := a.Size(off)
		if !ok || size != want {
			t.Errorf("a block of %d bytes occupies %d, want %d", n, size, want)
		}
		if off%64 != 0 || size >= 4096 && off%4096 != 0 {
			t.Errorf("a block of %d bytes lies at %d", n, off)
		}
		if freed := mustFree(t, a, off); freed != want {
			t.Errorf("freeing %d bytes gives back %d", n, freed)
		}
	}
}

func TestBadSizes(t *testing.T) {
	a := arena.New(1 << 20)
	for _, n := range []int64{0, -1, math.MinInt64} {
		if off, err := a.Alloc(n); !errors.Is(err, arena.ErrBadSize) {
			t.Errorf("Alloc(%d) = %d, %v", n, off, err)
		}
	}
	for _, n := range []int64{1<<20 + 1, math.MaxInt64, math.MaxInt64 - 4094} {
		if off, err := a.Alloc(n); !errors.Is(err, arena.ErrFull) {
			t.Errorf("Alloc(%d) = %d, %v", n, off, err)
		}
	}
	if a.InUse() != 0 || a.Peak() != 0 {
		t.Errorf("refused blocks occupy %d, peak %d", a.InUse(), a.Peak())
	}
}

func TestTinyArenas(t *testing.T) {
	for size, blocks := range map[int64]int{math.MinInt64: 0, -1: 0, 0: 0, 4095: 0, 4096: 1, 8200: 2} {
		a := arena.New(size)
		for range blocks {
			mustAlloc(t, a, 64)
		}
		if _, err := a.Alloc(64); !errors.Is(err, arena.ErrFull) {
			t.Errorf("an arena of %d bytes holds more than %d blocks", size, blocks)
		}
		if a.InUse() != a.Capacity() {
			t.Errorf("an arena of %d bytes is full with %d of %d in use", size, a.InUse(), a.Capacity())
		}
	}
}

func TestFullErrorNamesItsFigures(t *testing.T) {
	a := arena.New(16 * 4096)
	var offs []int64
	for range 16 {
		offs = append(offs, mustAlloc(t, a, 4096))
	}
	for _, i := range []int{1, 5, 6, 9} {
		mustFree(t, a, offs[i])
	}
	_, err := a.Alloc(10000)
	var full *arena.FullError
	if !errors.As(err, &full) || !errors.Is(err, arena.ErrFull) {
		t.Fatalf("error %v", err)
	}
	if *full != (arena.FullError{Asked: 10000, Free: 4 * 4096, Largest: 2 * 4096}) {
		t.Errorf("figures %+v", *full)
	}
	for _, figure := range []string{"10000", "16384", "8192"} {
		if !strings.Contains(err.Error(), figure) {
			t.Errorf("%q doesn't name %s", err, figure)
		}
	}
}

func TestFreeOfWhatIsNotAllocated(t *testing.T) {
	a := arena.New(1 << 20)
	small, large := mustAlloc(t, a, 192), mustAlloc(t, a, 8192)
	keptInSlab := mustAlloc(t, a, 192)
	inUse := a.InUse()
	for _, off := range []int64{
		math.MinInt64, -64, -1, small + 1, small + 64, keptInSlab + 192, large + 1, large + 4096, 1 << 20, math.MaxInt64,
		341 * 192, // beyond the last whole slot of a slab
	} {
		if size, err := a.Free(off); !errors.Is(err, arena.ErrNotAllocated) {
			t.Errorf("Free(%d) = %d, %v", off, size, err)
		}
		if size, ok := a.Size(off); ok {
			t.Errorf("Size(%d) = %d", off, size)
		}
	}
	if a.InUse() != inUse {
		t.Errorf("refused frees changed the bytes in use from %d to %d", inUse, a.InUse())
	}
	for _, off := range []int64{small, large} {
		mustFree(t, a, off)
		if _, err := a.Free(off); !errors.Is(err, arena.ErrNotAllocated) {
			t.Errorf("double free of %d: %v", off, err)
		}
	}
}

func TestPeak(t *testing.T) {
	a := arena.New(1 << 20)
	off := mustAlloc(t, a, 100000)
	mustFree(t, a, off)
	mustAlloc(t, a, 1)
	if a.InUse() != 64 || a.Peak() != 102400 {
		t.Errorf("in use %d, peak %d", a.InUse(), a.Peak())
	}
}

func TestOneArenaForManyGoroutines(t *testing.T) {
	const size = 8 << 20
	a := arena.New(size)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 1))
			var mine []int64
			for range 2000 {
				if len(mine) > 20 {
					i := rng.IntN(len(mine))
					if _, err := a.Free(mine[i]); err != nil {
						t.Error(err)
					}
					mine[i] = mine[len(mine)-1]
					mine = mine[:len(mine)-1]
				}
				if off, err := a.Alloc(1 << rng.IntN(15)); err == nil {
					mine = append(mine, off)
				}
			}
			for _, off := range mine {
				if _, err := a.Free(off); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if a.InUse() != 0 {
		t.Errorf("%d bytes still in use", a.InUse())
	}
	mustAlloc(t, a, size)
}
