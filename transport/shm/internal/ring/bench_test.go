package ring_test

import (
	"fmt"
	"testing"

	"gomx/transport/wire"
)

// BenchmarkSendRead is both ends in one goroutine: the work without the way of
// the cache line.
func BenchmarkSendRead(b *testing.B) {
	for _, length := range []int{0, 8, 40, 64, 512, 4096, 32768} {
		b.Run(fmt.Sprint(length), func(b *testing.B) {
			mem, _ := guarded(b)
			w, r := ends(b, mem)
			h := wire.Header{Kind: wire.Eager, Length: uint32(length)}
			v := wire.Vec{First: make([]byte, length)}
			b.SetBytes(int64(length))
			b.ReportAllocs()
			for b.Loop() {
				if !w.Send(&h, &v, 0) {
					b.Fatal("no room")
				}
				if got, _, _ := r.Next(); got == nil {
					b.Fatal("no frame")
				}
				if r.Take() {
					r.Publish()
				}
			}
		})
	}
}

// BenchmarkEmpty is a poll of a ring with nothing in it.
func BenchmarkEmpty(b *testing.B) {
	mem, _ := guarded(b)
	_, r := ends(b, mem)
	for b.Loop() {
		if r.Ready() {
			b.Fatal("a frame in an empty ring")
		}
	}
}
