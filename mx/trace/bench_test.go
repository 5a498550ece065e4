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

// BenchmarkPut puts 8 bytes into a window of another endpoint, in the same goroutine, without a trace and with one, which takes an event of either side.
func BenchmarkPut(b *testing.B) {
	b.Run("off", func(b *testing.B) { puts(b, "") })
	b.Run("on", func(b *testing.B) { puts(b, b.TempDir()) })
}

func puts(b *testing.B, folder string) {
	put := putter(b, folder)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		put()
	}
}

// putter returns what puts 8 bytes into a window, and waits until they are there.
func putter(tb testing.TB, folder string) func() {
	from, at, to := pair(tb, folder)
	w, err := at.OpenWindow(make([]byte, 8), mx.WindowWrite)
	if err != nil {
		tb.Fatal(err)
	}
	bytes, n := make([]byte, 8), uint64(0)
	return func() {
		n++
		if sent, err := from.Put(bytes, to, w.Handle(), 0); !sent || err != nil {
			tb.Fatal(sent, err)
		}
		for {
			if puts, _, err := w.Poll(); err != nil || puts == n {
				return
			}
		}
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

// TestNothingIsAllocated holds that a message or put which is traced allocates nothing.
func TestNothingIsAllocated(t *testing.T) {
	t.Run("message", func(t *testing.T) {
		a, b, to := pair(t, t.TempDir())
		out, in := make([]byte, 8), make([]byte, 8)
		allocatesNothing(t, func() { message(t, a, b, to, out, in) })
	})
	t.Run("put", func(t *testing.T) { allocatesNothing(t, putter(t, t.TempDir())) })
}

func allocatesNothing(t *testing.T, once func()) {
	t.Helper()
	least := testing.AllocsPerRun(500, once)
	for range 2 {
		least = min(least, testing.AllocsPerRun(500, once)) // what others of the process allocate counts, too
	}
	if least != 0 {
		t.Errorf("it allocates %v times", least)
	}
}
