//go:build linux && cgo

package rdma_test

import (
	"testing"

	"gomx/transport/rdma"
	"gomx/transport/tcp"
	"gomx/transport/wire"
)

func BenchmarkIdlePoll(b *testing.B) {
	near, far := joined(b, rdma.Options{}, tcp.Options{})
	_ = far
	for b.Loop() {
		near.port.Poll(near)
		near.link.Bind(1)
	}
}

// what a send costs the caller, credits being given back between
func BenchmarkSendOnly(b *testing.B) {
	near, far := joined(b, rdma.Options{}, tcp.Options{})
	message := &wire.Vec{First: make([]byte, 8)}
	h := wire.Header{Kind: wire.Eager, Length: 8}
	b.ResetTimer()
	for i := range b.N {
		if i%8 == 0 {
			b.StopTimer()
			for range 100 {
				far.port.Poll(far)
				near.port.Poll(near)
			}
			b.StartTimer()
		}
		near.link.Send(&h, message, 0)
		near.port.Poll(near)
	}
}
