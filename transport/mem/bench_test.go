package mem_test

import (
	"fmt"
	"testing"

	"gomx/transport/mem"
	"gomx/transport/wire"
)

// BenchmarkSendPoll is the cost of one frame, both sides in one goroutine.
func BenchmarkSendPoll(b *testing.B) {
	for _, size := range []int{0, 8, 64, 4096, 32 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			_, port, link, _, _ := pair(b, mem.NewNetwork(mem.Options{}))
			list, h := &wire.Vec{First: make([]byte, size)}, wire.Header{Kind: wire.Eager, Length: uint32(size)}
			take := handler(func(int32, *wire.Header, []byte) bool { return true })
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				link.Send(&h, list, 0)
				port.Poll(take)
			}
		})
	}
}
