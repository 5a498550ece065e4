package driver

import (
	"testing"
	"time"
)

// TestSampledCalls makes calls that take the same time each, and compares what is counted for all with their number: with the mutex, with the
// favour of the only goroutine, and with that of one that another goroutine interrupts.
func TestSampledCalls(t *testing.T) {
	const calls, each, looks = 1_000_000, 10 * time.Microsecond, 500 // calls between two looks
	for _, c := range []struct {
		name        string
		begin       func(l *endpointLock)
		interrupted int // after so many calls
	}{
		{"mutex", func(l *endpointLock) {}, calls},
		{"single", func(l *endpointLock) { l.reserve(func() bool { return true }) }, calls},
		{"favoured", func(l *endpointLock) { l.learn(func() bool { return true }) }, calls},
		{"interrupted", func(l *endpointLock) { l.learn(func() bool { return true }) }, 30_011},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l endpointLock
			var now, spent time.Duration
			c.begin(&l)
			l.sampler = &sampler{
				clock: func() time.Duration { return now },
				class: func() uint64 { return 7 },
				spent: func(_ uint64, took time.Duration) { spent += took },
			}
			for i := range calls {
				if i%c.interrupted == c.interrupted-1 {
					done := make(chan struct{})
					go func() {
						l.lock()
						l.unlock()
						close(done)
					}()
					<-done
				}
				l.lock()
				now += each
				if i%looks == 0 {
					l.startSampling()
				}
				for range i % 3 {
					l.outside(func() {})
				}
				l.unlock()
			}
			if want := calls * each; spent > want+want/10 || spent < want-want/10 {
				t.Errorf("%v counted for calls that have taken %v", spent, want)
			}
		})
	}
}
