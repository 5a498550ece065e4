package arena_test

import (
	"fmt"
	"testing"

	"gomx/transport/shm/internal/arena"
)

func BenchmarkAllocFree(b *testing.B) {
	for _, size := range []int64{64, 2048, 4096, 1 << 20} {
		for _, holes := range []int{0, 1000} {
			b.Run(fmt.Sprintf("size=%d/holes=%d", size, holes), func(b *testing.B) {
				a := fragmented(b, holes)
				b.ReportAllocs()
				for b.Loop() {
					off, err := a.Alloc(size)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := a.Free(off); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// fragmented returns an arena with so many holes of one page, and a slab of each
// small size.
func fragmented(b *testing.B, holes int) *arena.Allocator {
	a := arena.New(64 << 20)
	for _, size := range smallSizes {
		if _, err := a.Alloc(size); err != nil {
			b.Fatal(err)
		}
	}
	var offs []int64
	for range 2 * holes {
		off, err := a.Alloc(page)
		if err != nil {
			b.Fatal(err)
		}
		offs = append(offs, off)
	}
	for i := 0; i < len(offs); i += 2 {
		if _, err := a.Free(offs[i]); err != nil {
			b.Fatal(err)
		}
	}
	return a
}
