//go:build linux && cgo

package rdma_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"gomx/transport/rdma"
	"gomx/transport/tcp"
	"gomx/transport/wire"
)

// BenchmarkHalfRoundTrip plays frames to and fro between two ports.
func BenchmarkHalfRoundTrip(b *testing.B) {
	for _, size := range []int{0, 8, 64, 512, 4 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) { rounds(b, size) })
	}
}

func rounds(b *testing.B, size int) {
	near, far := joined(b, rdma.Options{}, tcp.Options{})
	message := &wire.Vec{First: make([]byte, size)}
	h := wire.Header{Kind: wire.Eager, Length: uint32(size)}
	done := make(chan struct{})
	play := func(e *end, starts bool) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for range b.N {
			if starts {
				e.link.Send(&h, message, 0)
			}
			for e.port.Poll(e) == 0 {
			}
			if !starts {
				e.link.Send(&h, message, 0)
			}
		}
	}
	go func() { play(far, false); close(done) }()
	b.ResetTimer()
	play(near, true)
	<-done
	b.StopTimer()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N)/1000, "us/half")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkPull pulls messages one after the other, from memory that is registered
// for each of them, for long, or that is copied first if it is short enough.
func BenchmarkPull(b *testing.B) {
	for _, size := range []int{1 << 10, 4 << 10, 16 << 10, 32 << 10, 64 << 10, 256 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("own/%d", size), func(b *testing.B) { pulls(b, size, false) })
		b.Run(fmt.Sprintf("registered/%d", size), func(b *testing.B) { pulls(b, size, true) })
	}
}

func pulls(b *testing.B, size int, registered bool) {
	near, far := joined(b, rdma.Options{}, tcp.Options{})
	from, to := &wire.Vec{First: make([]byte, size)}, &wire.Vec{First: make([]byte, size)}
	if registered {
		near.register(b, from.First)
		far.register(b, to.First)
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		desc, token := near.link.Export(nil, from)
		if r := far.link.Pull(desc, to, size, 1); r != wire.PullStarted {
			b.Fatalf("pull: %v", r)
		}
		for far.ended = 0; far.ended == 0; {
			far.port.Poll(far)
		}
		near.link.Unexport(token, false)
		near.port.Poll(near)
	}
}

// BenchmarkStream sends small frames as fast as they are taken, 64 between two
// polls.
func BenchmarkStream(b *testing.B) {
	near, far := joined(b, rdma.Options{}, tcp.Options{})
	message := &wire.Vec{First: make([]byte, 8)}
	h := wire.Header{Kind: wire.Eager, Length: 8}
	var got atomic.Int64
	far.take = func(*wire.Header, []byte) bool { got.Add(1); return true }
	done := make(chan struct{})
	go func() {
		defer close(done)
		for got.Load() < int64(b.N) {
			far.port.Poll(far)
		}
	}()
	b.ResetTimer()
	for i := 0; i < b.N; {
		if !near.link.Send(&h, message, 0) {
			near.port.Poll(near)
			continue
		}
		if i++; i%64 == 0 {
			near.port.Poll(near)
		}
	}
	for stop := false; !stop; {
		near.port.Poll(near)
		select {
		case <-done:
			stop = true
		default:
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e3, "kframes/s")
}
