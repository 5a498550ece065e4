package coll

import (
	"math"
	"testing"
)

// TestWindowOfAnyLength cuts windows down and widens them again, of lengths that no test could give memory to.
func TestWindowOfAnyLength(t *testing.T) {
	for _, length := range []int{0, 1, 5, 1 << 20, math.MaxInt32, math.MaxInt / 2, math.MaxInt} {
		for path := range 8 {
			w := window{to: length}
			var before [][2]int
			for bit := 1; bit < 8; bit <<= 1 {
				before = append(before, [2]int{w.from, w.to})
				from, to := w.cut(path&bit != 0)
				if joined := [2]int{min(from, w.from), max(to, w.to)}; joined != before[len(before)-1] {
					t.Fatalf("%v was cut into %d to %d and %d to %d", before[len(before)-1], from, to, w.from, w.to)
				}
			}
			for i := len(before) - 1; i >= 0; i-- {
				w.widen()
				if now := [2]int{w.from, w.to}; now != before[i] {
					t.Fatalf("%d elements: %v came back as %v", length, before[i], now)
				}
			}
		}
	}
}
