//go:build linux

package shm

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"gomx/transport/wire"
)

// TestScatter compares with wire.Vec's own copy, over lists cut anyhow.
func TestScatter(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	src := make([]byte, 20<<10)
	for i := range src {
		src[i] = byte(random.Uint32())
	}
	for range 300 {
		var got, want wire.Vec
		for i := range random.IntN(5) {
			n := random.IntN(8 << 10)
			if i == 0 {
				got.First, want.First = make([]byte, n), make([]byte, n)
				continue
			}
			got.Rest, want.Rest = append(got.Rest, make([]byte, n)), append(want.Rest, make([]byte, n))
		}
		off, part := random.IntN(got.Len()+1), src[:random.IntN(len(src))]
		if g, w := scatter(&got, off, part), want.Scatter(off, part); g != w {
			t.Fatalf("%d bytes at %d of %d: %d found room, want %d", len(part), off, got.Len(), g, w)
		}
		for i := range got.Segments() {
			if !bytes.Equal(got.Segment(i), want.Segment(i)) {
				t.Fatalf("%d bytes at %d: segment %d differs", len(part), off, i)
			}
		}
	}
}
