package driver

import (
	"math/rand/v2"
	"sync"
	"time"

	"gomx/endpoint"
)

// sampler times some calls every few milliseconds, and has them count for all. This costs no instruction of the others: while calls are
// sampled, the favour that a caller has is not the one that was used last. All is under the lock.
type sampler struct {
	calls  int           // how many calls have passed by without a favour
	looks  int           // how often the guard has looked since calls were sampled last
	seen   int           // how many calls there were when calls were sampled last
	skip   int           // how many calls pass before the next ones are timed
	left   int           // how many calls are still timed
	each   time.Duration // how many calls each of these counts for
	since  time.Duration // when the call that is timed has taken the lock
	favour *favour       // by which the lock was taken for the sake of samples
	clock  func() time.Duration
	spent  func(time.Duration)
}

const (
	samples    = 16   // how many calls are timed in a row
	mostSkip   = 8192 // before them a random number of calls passes, because sampling begins in a wait
	everyLooks = 4    // how many looks of the guard it takes

	// mostTime is the longest time that counts for other calls as well. A call that takes longer has lost its processor.
	mostTime = 100 * time.Microsecond
)

// beginSampling makes the sampler.
func (d *Endpoint) beginSampling() {
	if endpoint.Counting {
		d.sampler = &sampler{clock: d.clock, spent: func(t time.Duration) { d.eng.Spent(d.eng.LatestClass(), uint64(t)) }}
	}
}

// startSampling has calls sampled soon.
func (l *endpointLock) startSampling() {
	s := l.sampler
	if s == nil || s.left > 0 {
		return
	}
	if s.looks++; s.looks < everyLooks {
		return
	}
	all := s.calls + l.regular.uses
	since := max(all-s.seen, 1)
	s.looks, s.seen, s.each = 0, all, time.Duration(since)
	s.skip, s.left = rand.IntN(min(since, mostSkip)), samples
	if l.held == byFavour {
		l.held, s.favour = sampled, l.used
	}
	l.used = nil
}

// sample times the call that has taken the lock, if it is its turn.
func (l *endpointLock) sample() {
	s := l.sampler
	if s == nil {
		return
	}
	if l.held != sampled {
		s.calls++
	}
	switch {
	case s.left == 0:
	case s.skip > 0:
		s.skip--
	default:
		s.left--
		l.timed, s.since = true, s.clock()
	}
}

// pauseTiming is called when the holder of the lock gives it up for a while in the middle of a call, and resumeTiming when it has it again.
func (l *endpointLock) pauseTiming() (since time.Duration) {
	if !l.timed {
		return unread
	}
	l.timed = false
	return l.sampler.since
}

func (l *endpointLock) resumeTiming(since time.Duration) {
	if l.sampler == nil {
		return
	}
	l.sampler.seen++ // it is the same call
	if l.timed {
		l.sampler.left++
	}
	if l.timed = since != unread; l.timed {
		l.sampler.since = since
	}
}

// end ends the call.
func (s *sampler) end() {
	took := s.clock() - s.since - clockTime()
	switch {
	case took <= 0:
	case took < mostTime:
		s.spent(took * s.each / samples)
	default:
		s.spent(took)
	}
}

// clockTime is what a reading of the clock takes, which each measured time has in it.
var clockTime = sync.OnceValue(func() time.Duration {
	start, least := time.Now(), time.Second
	for range 64 {
		first := time.Since(start)
		least = min(least, time.Since(start)-first)
	}
	return least
})
