package match_test

import (
	"fmt"
	"testing"

	"gomx/match"
)

// One receive posted and matched, in front of others that don't match.
func BenchmarkPostArrive(b *testing.B) {
	for _, others := range []int32{0, 1, 3, 7, 16, 1024, 16384} {
		b.Run(fmt.Sprintf("others=%d", others), func(b *testing.B) {
			var table match.Table
			for i := range others {
				table.Post(i+1, 1<<40|uint64(i), match.MaskNone)
			}
			for b.Loop() {
				table.Post(0, 7, match.MaskNone)
				table.Arrive(7)
			}
		})
	}
}

// Values that change with each message, so that no slot stays in the cache.
func BenchmarkPostArriveRandom(b *testing.B) {
	for _, depth := range []int32{64, 16384, 1 << 18} {
		b.Run(fmt.Sprintf("depth=%d", depth), func(b *testing.B) {
			var table match.Table
			value := func(id int32) uint64 { return uint64(id) << 20 }
			for i := range depth {
				table.Post(i, value(i), match.MaskNone)
			}
			at := uint32(1)
			for b.Loop() {
				at = at*1664525 + 1013904223
				id, _ := table.Arrive(value(int32(at>>8) & (depth - 1)))
				table.Post(id, value(id), match.MaskNone)
			}
		})
	}
}

// A window of receives posted, then matched in order.
func BenchmarkWindow(b *testing.B) {
	for _, window := range []int32{4, 8, 64} {
		b.Run(fmt.Sprint(window), func(b *testing.B) {
			var table match.Table
			for b.Loop() {
				for i := range window {
					table.Post(i, 7, match.MaskNone)
				}
				for range window {
					table.Arrive(7)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(window), "ns/pair")
		})
	}
}

// A deep table with several masks in use, all of which must be asked.
func BenchmarkMasks(b *testing.B) {
	for _, masks := range []int32{1, 2, 4, 16} {
		b.Run(fmt.Sprint(masks), func(b *testing.B) {
			var table match.Table
			for i := range int32(1024) {
				mask := match.MaskNone << (i % masks)
				table.Post(i+1, (1<<40|uint64(i)<<20)&mask, mask)
			}
			for b.Loop() {
				table.Post(0, 7, match.MaskNone)
				table.Arrive(7)
			}
		})
	}
}
