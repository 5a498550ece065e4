package unexpected_test

import (
	"fmt"
	"testing"

	"gomx/match"
	"gomx/unexpected"
)

// A message that is received soon after it has come, behind others that stay.
func BenchmarkAddFindRemove(b *testing.B) {
	for _, size := range []int{0, 8, 1024, 32 << 10} {
		for _, others := range []int{0, 4, 4096} {
			b.Run(fmt.Sprintf("size=%d/others=%d", size, others), func(b *testing.B) {
				store := unexpected.New(64 << 20)
				for i := range others {
					store.Add(unexpected.Message{Match: 1<<40 | uint64(i)}, 8)
				}
				for b.Loop() {
					store.Add(unexpected.Message{Match: 7, Length: 8}, size)
					id, _ := store.Find(7, match.MaskNone)
					store.Remove(id)
				}
			})
		}
	}
}

// What every posted receive pays when nothing unexpected matches.
func BenchmarkFindNothing(b *testing.B) {
	for _, depth := range []int{0, 1, 4096} {
		for name, mask := range map[string]uint64{"exact": match.MaskNone, "wild": anyTag} {
			b.Run(fmt.Sprintf("depth=%d/%s", depth, name), func(b *testing.B) {
				store := unexpected.New(64 << 20)
				for i := range depth {
					store.Add(unexpected.Message{Match: 1<<40 | uint64(i)}, 8)
				}
				for b.Loop() {
					store.Find(1<<60, mask)
				}
			})
		}
	}
}

// 32768 messages received in the reverse of their order, exactly and with a
// wildcard, adding not counted.
func BenchmarkReverse(b *testing.B) {
	const n = 32768
	for name, mask := range map[string]uint64{"exact": match.MaskNone, "wild": anyTag} {
		b.Run(name, func(b *testing.B) {
			store := unexpected.New(64 << 20)
			for b.Loop() {
				b.StopTimer()
				for i := range uint64(n) {
					store.Add(unexpected.Message{Match: i << 32, Length: 8}, 8)
				}
				b.StartTimer()
				for i := range uint64(n) {
					id, _ := store.Find((n-1-i)<<32, mask)
					store.Remove(id)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/message")
		})
	}
}

// Masks in use at once over a deep store: what keeping their indexes up costs.
func BenchmarkMasks(b *testing.B) {
	for _, masks := range []int{0, 1, 2, 4, 8} {
		b.Run(fmt.Sprint(masks), func(b *testing.B) {
			store := unexpected.New(64 << 20)
			for i := range uint64(1024) {
				store.Add(unexpected.Message{Match: 1<<60 | i<<32}, 8)
			}
			turn := 0
			for b.Loop() {
				store.Add(unexpected.Message{Match: 7}, 8)
				mask := match.MaskNone
				if masks > 0 {
					mask = match.MaskNone << (4 + turn%masks)
					turn++
				}
				id, _ := store.Find(7&mask, mask)
				store.Remove(id)
			}
		})
	}
}
