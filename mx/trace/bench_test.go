package trace_test

import (
	"testing"
	"time"

	"gomx/mx"
)

// BenchmarkMessage sends messages of 8 bytes from one endpoint to another in the same goroutine, without a trace and with one.
// On takes two events each, of the send and of the match.
func BenchmarkMessage(b *testing.B) {
	b.Run("off", func(b *testing.B) { messages(b, "") })
	b.Run("on", func(b *testing.B) { messages(b, b.TempDir()) })
}

func messages(b *testing.B, folder string) {
	send, receive, to := pair(b, folder)
	out, in := make([]byte, 8), make([]byte, 8)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		message(b, send, receive, to, out, in)
	}
}

// pair opens two endpoints that are connected, and closes them with the test.
func pair(tb testing.TB, folder string) (a, b *mx.Endpoint, toB mx.EndpointAddr) {
	tb.Helper()
	if err := mx.Init(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = mx.Finalize() })
	open := func() *mx.Endpoint {
		ep, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, 7, mx.WithTransports("mem"), mx.SingleThreaded(), mx.WithTrace(folder))
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = ep.Close() })
		return ep
	}
	a, b = open(), open()
	nic, id, err := mx.DecomposeEndpointAddr(b.Addr())
	if err == nil {
		toB, err = a.Connect(nic, id, 7, 10*time.Second)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return a, b, toB
}

func message(tb testing.TB, a, b *mx.Endpoint, to mx.EndpointAddr, out, in []byte) {
	r, err := b.Irecv(in, 1, mx.MatchMaskNone, nil)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := a.Isend(out, to, 1, nil)
	if err != nil {
		tb.Fatal(err)
	}
	if _, done, err := b.Wait(r, mx.Infinite); !done || err != nil {
		tb.Fatal(done, err)
	}
	if _, done, err := a.Wait(s, mx.Infinite); !done || err != nil {
		tb.Fatal(done, err)
	}
}

// TestNothingIsAllocated holds that a message which is traced allocates nothing.
func TestNothingIsAllocated(t *testing.T) {
	a, b, to := pair(t, t.TempDir())
	out, in := make([]byte, 8), make([]byte, 8)
	once := func() { message(t, a, b, to, out, in) }
	least := testing.AllocsPerRun(500, once)
	for range 2 {
		least = min(least, testing.AllocsPerRun(500, once)) // what others of the process allocate counts, too
	}
	if least != 0 {
		t.Errorf("a message allocates %v times", least)
	}
}
