//go:build linux

package bell_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// compute takes a processor for as long as the process lives.
func compute() {
	for {
		spin++
	}
}

// await polls for the answer of a process that computes, as a caller does that waits for one, and offers its core after some polls.
func (p *player) await(last uint32) uint32 {
	for polls := 1; ; polls++ {
		if n := atomic.LoadUint32(p.in); n != last {
			return n
		}
		if polls%64 == 0 {
			p.bell.Yield()
		}
	}
}

// BenchmarkAnswerBesideAComputation measures the wake-up that an endpoint's own goroutine needs where the program computes and calls
// nothing: until a goroutine that sleeps in Go's network poller has woken and has written a word that whoever rang polls for. The
// figure is the median. Between two, whoever rings computes or sleeps, as in bench/ordinary/mx_atomic.
func BenchmarkAnswerBesideAComputation(b *testing.B) {
	for name, rest := range map[string]func(time.Duration){"computing": spend, "asleep": time.Sleep} {
		b.Run(name, func(b *testing.B) {
			play(b, game{pollable: true, pends: true, computes: true}, func(each func()) {
				var took []time.Duration
				for b.Loop() {
					rest(time.Millisecond) // until the other one sleeps again
					begin := time.Now()
					each()
					took = append(took, time.Since(begin))
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1000, "us/answer")
			})
		})
	}
}

// spend computes for a time.
func spend(d time.Duration) {
	for begin := time.Now(); time.Since(begin) < d; {
	}
}
