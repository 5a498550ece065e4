package wire_test

import (
	"testing"

	"gomx/transport/wire"
)

// TestCost fixes what messages cost at the edges of the classes: who changes one
// changes wire.Version.
func TestCost(t *testing.T) {
	for n, want := range map[int]int{
		0: 224, 1: 224, 64: 224, 65: 288, 128: 288, 129: 416, 1000: 1184, 1024: 1184, 1025: 2208,
		65536: 65696, 65537: 73888, 73728: 73888, 73729: 82080, 4 << 20: 4<<20 + 160,
	} {
		if got := wire.Cost(n); got != want {
			t.Errorf("an eager message of %d bytes costs %d, want %d", n, got, want)
		}
	}
	for n, want := range map[int]int{0: 1, 1: 1, 64: 1, 65: 2, 128: 2, 1023: 16, 1024: 16} {
		if got := wire.Headers(n); got != want {
			t.Errorf("a header with %d bytes costs %d, want %d", n, got, want)
		}
	}
}
