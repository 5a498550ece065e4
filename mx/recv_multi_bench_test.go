package mx_test

import (
	"testing"
	"time"

	"gomx/mx"
)

// BenchmarkFlood has one goroutine send 64 messages of 8 bytes at a time and receive them, by a receive each or into buffers for many. The
// second figure is what the calls of the receiver take of it.
func BenchmarkFlood(b *testing.B) {
	const messages, sample = 64, 16
	flood := func(b *testing.B, here *mx.Endpoint, to mx.EndpointAddr, post, receive func()) {
		buf, received, rounds, timed := make([]byte, 8), time.Duration(0), 0, 0
		call := func(f func()) {
			if rounds%sample != 0 { // the clock takes its time, too
				f()
				return
			}
			begun := time.Now()
			f()
			received += time.Since(begun)
		}
		for b.Loop() {
			if rounds%sample == 0 {
				timed += messages
			}
			call(post)
			for range messages {
				if here.SendNow(buf, to, 1) {
					continue
				}
				if r, err := here.Isend(buf, to, 1, nil); err != nil || here.Forget(r) != nil {
					b.Fatal(err)
				}
			}
			call(receive)
			rounds++
			if err := here.Progress(); err != nil { // takes the credit that has come back
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/messages, "ns/msg")
		b.ReportMetric(float64(received.Nanoseconds())/float64(timed), "ns/received")
	}
	b.Run("Irecv", func(b *testing.B) {
		here, there, to := connected(b)
		var reqs [messages]mx.Request
		buf := make([]byte, 8)
		flood(b, here, to, func() {
			for i := range reqs {
				reqs[i], _ = there.Irecv(buf, 1, exact, nil)
			}
		}, func() {
			for _, r := range reqs {
				if st, ok, err := there.Wait(r, mx.Infinite); !ok || st.Code != mx.StatusSuccess {
					b.Fatal(st, err)
				}
			}
		})
	})
	b.Run("IrecvMulti", func(b *testing.B) {
		here, there, to := connected(b)
		q, err := mx.NewQueue(there)
		if err != nil {
			b.Fatal(err)
		}
		buf, batch := make([]byte, 1<<16), make([]mx.Completion, messages)
		post := func() {
			if _, err := there.IrecvMulti(q, buf, 8, 1, exact, nil); err != nil {
				b.Fatal(err)
			}
		}
		post()
		flood(b, here, to, func() {}, func() {
			for missing := messages; missing > 0; {
				n, err := q.Wait(noContext, batch, mx.Infinite)
				if n == 0 || err != nil {
					b.Fatal(n, err)
				}
				for i := range batch[:n] {
					if batch[i].Message != nil {
						missing--
					} else {
						post()
					}
				}
			}
		})
	})
}
