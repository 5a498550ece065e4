//go:build linux

package tcp_test

import (
	"fmt"
	"net"
	"runtime"
	"sync/atomic"
	"testing"

	"gomx/transport/tcp"
	"gomx/transport/tcp/internal/sock"
	"gomx/transport/wire"
)

// BenchmarkHalfRoundTrip plays frames to and fro between two ports, and the same
// bytes between two bare sockets.
func BenchmarkHalfRoundTrip(b *testing.B) {
	for _, size := range []int{0, 8, 64, 512, 4 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10} {
		b.Run(fmt.Sprintf("bare/%d", size), func(b *testing.B) { bareRounds(b, size) })
		b.Run(fmt.Sprintf("port/%d", size), func(b *testing.B) { portRounds(b, size) })
	}
}

func portRounds(b *testing.B, size int) {
	near, far := joined(b, tcp.Options{})
	message := &wire.Vec{First: make([]byte, size)}
	h := wire.Header{Kind: wire.Eager, Length: uint32(size)}
	into := [2][]byte{make([]byte, size), make([]byte, size)}
	done := make(chan struct{})
	play := func(e *end, i int) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		e.take = func(_ int32, _ *wire.Header, payload []byte) bool { copy(into[i], payload); return true }
		for range b.N {
			if i == 0 {
				e.link.Send(&h, message, 0)
			}
			for e.port.Poll(e) == 0 {
			}
			if i == 1 {
				e.link.Send(&h, message, 0)
			}
		}
	}
	go func() { play(far, 1); close(done) }()
	b.ResetTimer()
	play(near, 0)
	<-done
	b.StopTimer()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/half")
	b.ReportMetric(0, "ns/op")
}

func bareRounds(b *testing.B, size int) {
	fds := bareSockets(b)
	size += wire.BaseSize
	var buf [2][]byte
	play := func(i int) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		buf[i] = make([]byte, 512<<10)
		for range b.N {
			if i == 0 {
				bareSend(fds[i], buf[i][:size])
			}
			for got := 0; got < size; {
				n, _ := sock.Recv(fds[i], buf[i])
				got += n
			}
			if i == 1 {
				bareSend(fds[i], buf[i][:size])
			}
		}
	}
	done := make(chan struct{})
	go func() { play(1); close(done) }()
	b.ResetTimer()
	play(0)
	<-done
	b.StopTimer()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/half")
	b.ReportMetric(0, "ns/op")
}

func bareSend(fd int, b []byte) {
	for len(b) > 0 {
		n, _ := sock.Send(fd, b)
		b = b[n:]
	}
}

func bareSockets(t testing.TB) (fds [2]int) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var conns [2]net.Conn
	if conns[0], err = net.Dial("tcp4", l.Addr().String()); err == nil {
		conns[1], err = l.Accept()
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range conns {
		if fds[i], err = sock.Take(c.(*net.TCPConn)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { sock.Close(fds[i]) })
	}
	return fds
}

// BenchmarkStream sends small frames as fast as they are taken, 64 between two
// polls.
func BenchmarkStream(b *testing.B) {
	near, far := joined(b, tcp.Options{})
	message := &wire.Vec{First: make([]byte, 8)}
	h := wire.Header{Kind: wire.Eager, Length: 8}
	var got atomic.Int64
	far.take = func(int32, *wire.Header, []byte) bool { got.Add(1); return true }
	done := make(chan struct{})
	go func() {
		for got.Load() < int64(b.N) {
			far.port.Poll(far)
		}
		close(done)
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
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mframes/s")
}

// BenchmarkPull sends messages as a rendezvous does: a request, and PullData frames
// that land in place.
func BenchmarkPull(b *testing.B) {
	for _, size := range []int{32 << 10, 64 << 10, 256 << 10, 1 << 20, 2 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) { pullRounds(b, size) })
	}
}

func pullRounds(b *testing.B, size int) {
	near, far := joined(b, tcp.Options{})
	ends := []*end{near, far}
	var memory [2][2]wire.Vec // of each: to send, to receive
	var finished atomic.Int32
	done := make(chan struct{})
	for i := range ends {
		memory[i] = [2]wire.Vec{{First: make([]byte, size)}, {First: make([]byte, size)}}
	}
	b.SetBytes(int64(size))
	play := func(i int) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		p := &puller{end: ends[i], from: &memory[i][0], to: &memory[i][1], size: size}
		for range b.N {
			if i == 0 {
				p.offer()
			}
			p.await()
			if i == 1 {
				p.offer()
			}
		}
		for finished.Add(1); finished.Load() < 2; {
			p.step()
		}
	}
	go func() { play(1); close(done) }()
	b.ResetTimer()
	play(0)
	<-done
	b.StopTimer()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N)/1000, "us/half")
	b.ReportMetric(0, "ns/op")
}

// puller plays the engine's part in a rendezvous.
type puller struct {
	*end
	from, to           *wire.Vec
	size, given        int
	got                int
	offered, requested bool
}

func (p *puller) offer() {
	h := wire.Header{Kind: wire.Rendezvous}
	for !p.link.Send(&h, nil, 0) {
		p.port.Poll(p)
	}
}

func (p *puller) await() {
	for p.got < p.size {
		p.step()
	}
	p.got = 0
}

func (p *puller) step() {
	p.port.Poll(p)
	if p.offered {
		h := wire.Header{Kind: wire.PullRequest}
		p.offered = !p.link.Send(&h, nil, 0)
	}
	for p.requested {
		n := min(p.size-p.given, tcp.MaxFrame)
		h := wire.Header{Kind: wire.PullData, Flags: wire.HasRange, Offset: uint32(p.given), Length: uint32(n)}
		if !p.link.Send(&h, p.from, p.given) {
			break
		}
		if p.given += n; p.given == p.size {
			p.requested, p.given = false, 0
		}
	}
}

func (p *puller) Frame(_ int32, h *wire.Header, payload []byte) bool {
	switch h.Kind {
	case wire.Rendezvous:
		p.offered = true
	case wire.PullRequest:
		p.requested = true
	case wire.PullData:
		p.to.Scatter(int(h.Offset), payload)
		p.got += len(payload)
	}
	return true
}

func (p *puller) Land(int32, *wire.Header) *wire.Vec { return p.to }

func (p *puller) Landed(_ int32, h *wire.Header) { p.got += int(h.Length) }
