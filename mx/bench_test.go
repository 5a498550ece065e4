package mx_test

import (
	"fmt"
	"testing"
	"time"

	"gomx/mx"
)

// BenchmarkLatency sends a message to and fro between two goroutines of one
// process. One operation is half a round trip.
func BenchmarkLatency(b *testing.B) {
	for _, medium := range media {
		for _, n := range []int{0, 8, 512, 4096, 32 << 10, 256 << 10} {
			b.Run(fmt.Sprintf("%s/%d", medium, n), func(b *testing.B) { latency(b, medium, n) })
		}
	}
}

func latency(b *testing.B, medium string, n int) {
	w := newWorld(b, medium)
	here, there, toThere, toHere := w.pair()
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, n)
		for pong(there, buf, toHere) {
		}
	}()
	buf := make([]byte, n)
	b.SetBytes(int64(n))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%2 == 0 {
			ping(b, here, buf, toThere, onePing)
		}
	}
	ping(b, here, nil, toThere, lastPing)
	<-done
}

// The match values of a ping; the last one ends the other goroutine.
const onePing, lastPing = 1, 3

func ping(b *testing.B, ep *mx.Endpoint, buf []byte, to mx.EndpointAddr, match uint64) {
	recv, err := ep.Irecv(buf, 2, exact, nil)
	if err != nil {
		b.Fatal(err)
	}
	send, err := ep.Isend(buf, to, match, nil)
	if err != nil {
		b.Fatal(err)
	}
	if st, ok, err := ep.Wait(recv, bound); !ok || st.Code != mx.StatusSuccess {
		b.Fatal(st, err)
	}
	if st, ok, err := ep.Wait(send, bound); !ok || st.Code != mx.StatusSuccess {
		b.Fatal(st, err)
	}
}

// pong answers a ping, and reports whether another one follows.
func pong(ep *mx.Endpoint, buf []byte, to mx.EndpointAddr) bool {
	recv, err := ep.Irecv(buf, onePing, onePing, nil)
	if err != nil {
		return false
	}
	st, ok, _ := ep.Wait(recv, bound)
	if !ok {
		return false
	}
	if send, err := ep.Isend(buf[:st.XferLength], to, 2, nil); err == nil {
		_, _, _ = ep.Wait(send, bound)
	}
	return st.MatchInfo == onePing
}

// BenchmarkSelf sends a message to the endpoint itself.
func BenchmarkSelf(b *testing.B) {
	ep := newWorld(b, "mem").open()
	x := &exchange{a: ep, out: make([]byte, 8), in: make([]byte, 8)}
	b.ReportAllocs()
	for b.Loop() {
		exchanges["self"](x)
	}
	if x.failures > 0 {
		b.Errorf("%d failures", x.failures)
	}
}

// BenchmarkPostAndCancel posts a receive and cancels it.
func BenchmarkPostAndCancel(b *testing.B) {
	x := &exchange{b: newWorld(b, "mem").open()}
	b.ReportAllocs()
	for b.Loop() {
		exchanges["cancel"](x)
	}
	if x.failures > 0 {
		b.Errorf("%d failures", x.failures)
	}
}

// BenchmarkWindow sends 64 messages of 8 bytes at a time between two endpoints,
// from one goroutine: what the library itself does for a message, without the
// time that cache lines travel.
func BenchmarkWindow(b *testing.B) {
	for _, single := range []bool{false, true} {
		b.Run(fmt.Sprintf("single=%v", single), func(b *testing.B) { window(b, single) })
	}
}

func window(b *testing.B, single bool) {
	const messages = 64
	params := []mx.Param{{Key: mx.ParamSingleThreaded, Value: single}}
	here, there, to := connected(b, params...)
	var sends, receives [messages]mx.Request
	buf := make([]byte, 8)
	for b.Loop() {
		for i := range receives {
			receives[i], _ = there.Irecv(buf, 1, exact, nil)
		}
		for i := range sends {
			sends[i], _ = here.Isend(buf, to, 1, nil)
		}
		for _, r := range sends {
			here.Wait(r, bound)
		}
		for _, r := range receives {
			if st, ok, err := there.Wait(r, bound); !ok || st.Code != mx.StatusSuccess {
				b.Fatal(st, err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/messages, "ns/msg")
}

// BenchmarkCounter is BenchmarkWindow with operations that completion counters count.
func BenchmarkCounter(b *testing.B) {
	const messages = 64
	here, there, to := connected(b)
	sent, err := here.NewCompletionCounter()
	if err != nil {
		b.Fatal(err)
	}
	came, err := there.NewCompletionCounter()
	if err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 8)
	for all := uint64(messages); b.Loop(); all += messages {
		for range messages {
			came.Irecv(buf, 1, exact)
		}
		for range messages {
			sent.Isend(buf, to, 1)
		}
		for _, c := range []*mx.CompletionCounter{sent, came} {
			if n, _, err := c.Wait(noContext, all, bound); n != all || err != nil {
				b.Fatal(n, err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/messages, "ns/msg")
}

// connected opens two shm endpoints and connects the first to the second, while
// this goroutine makes the second's progress.
func connected(b *testing.B, params ...mx.Param) (here, there *mx.Endpoint, to mx.EndpointAddr) {
	initialize(b)
	open := func() *mx.Endpoint {
		ep, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, 1, append(params, mx.WithTransports("shm"))...)
		if err != nil {
			b.Skipf("shared memory can't be used: %v", err)
		}
		b.Cleanup(func() { ep.Close() })
		return ep
	}
	here, there = open(), open()
	nic, id, err := mx.DecomposeEndpointAddr(there.Addr())
	if err != nil {
		b.Fatal(err)
	}
	r, err := here.Iconnect(nic, id, 1, 0, nil)
	if err != nil {
		b.Fatal(err)
	}
	for begin := time.Now(); time.Since(begin) < bound; {
		if err := there.Progress(); err != nil {
			b.Fatal(err)
		}
		if st, done, err := here.Test(r); err != nil || done {
			return here, there, st.Source
		}
	}
	b.Fatal("connect took too long")
	return
}
