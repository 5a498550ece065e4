//go:build linux

package processes_test

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkIdlePeers says what 64 connected peers that are silent cost in memory.
func BenchmarkIdlePeers(b *testing.B) {
	grown := 0
	for range b.N {
		grown = idlePeers(b)
	}
	b.ReportMetric(float64(grown)/(1<<20), "MiB")
	b.ReportMetric(float64(grown)/(1<<10)/idleCount, "KiB/peer")
}

// BenchmarkRing passes a token around processes, on whatever cores there are. One
// operation is a hop.
func BenchmarkRing(b *testing.B) {
	for _, ranks := range []int{2, 4} {
		for _, spin := range []time.Duration{0, 50 * time.Microsecond} {
			b.Run(fmt.Sprintf("ranks=%d/spin=%v", ranks, spin), func(b *testing.B) {
				laps := max(b.N/ranks, 1)
				hop := ring(b, ranks, laps, spin)
				b.ReportMetric(float64(hop.Nanoseconds())/1000, "us/hop")
			})
		}
	}
}
