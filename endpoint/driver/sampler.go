package driver

import (
	"math/rand/v2"
	"sync"
	"time"

	"gomx/endpoint"
)

// The time in calls is counted by class. That of a wait which proves long is measured, because such a wait reads the clock in any case. Of all
// other calls, most of which take less than two readings of the clock would, few are timed, and count for the rest. What is timed is how
// long a call has the lock.

// sampler times some calls every few milliseconds, and has them count for all of that time. Taking the lock costs the others no instruction
// for it: while calls are sampled, the favour that a caller has is not the one that was used last. All is under the lock.
type sampler struct {
	calls  int           // how many calls have passed by without a favour
	looks  int           // how often the guard has looked since began
	began  time.Duration // when the present round of sampling began
	seen   int           // how many calls there were before
	skip   int           // how many calls pass before the next ones are timed
	left   int           // how many calls are still timed
	taken  []sample      // the round's
	since  time.Duration // when the call that is timed has taken the lock
	favour *favour       // by which the lock was taken for the sake of samples
	clock  func() time.Duration
	class  func() uint64 // of the call that ends
	spent  func(class uint64, t time.Duration)
}

// sample is what a call has taken.
type sample struct {
	class uint64
	took  time.Duration
}

const (
	samples    = 16   // how many calls are timed in a row
	mostSkip   = 8192 // before them a random number of calls passes, because sampling begins in a wait
	everyLooks = 4    // how many looks of the guard make a round
)

// beginSampling makes the sampler.
func (d *Endpoint) beginSampling() {
	if endpoint.Counting {
		d.sampler = &sampler{
			clock: d.clock, class: func() uint64 { return d.eng.LatestClass() }, taken: make([]sample, 0, samples),
			spent: func(class uint64, t time.Duration) { d.eng.Spent(class, uint64(t)) },
		}
	}
}

// startSampling ends a round of sampling, and begins another.
func (l *endpointLock) startSampling() {
	s := l.sampler
	if s == nil || s.left > 0 {
		return
	}
	if s.looks++; s.looks < everyLooks {
		return
	}
	calls := l.endRound()
	s.looks, s.skip, s.left = 0, rand.IntN(min(calls, mostSkip)), samples
	if l.held == byFavour {
		l.held, s.favour = sampled, l.used
	}
	l.used = nil
}

// endRound counts the samples that were taken, and returns how many calls they stand for.
func (l *endpointLock) endRound() (calls int) {
	s := l.sampler
	now, all := s.clock(), s.calls+l.regular.uses
	calls = max(all-s.seen, 1)
	s.settle(calls, now-s.began)
	s.began, s.seen = now, all
	return calls
}

// settle counts the samples of a round for all its calls. Together they have not had the lock for longer than the round has taken; a sample
// whose caller has lost its processor may say so.
func (s *sampler) settle(calls int, took time.Duration) {
	if len(s.taken) == 0 {
		return
	}
	var all time.Duration
	for _, one := range s.taken {
		all += one.took
	}
	each := float64(calls) / float64(len(s.taken))
	if all > 0 {
		each = min(each, float64(took)/float64(all))
	}
	for _, one := range s.taken {
		s.spent(one.class, time.Duration(each*float64(one.took)))
	}
	s.taken = s.taken[:0]
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
		if l.held == byFavour {
			l.held, l.sampler.favour = sampled, l.used // so that release notices
		}
	}
}

// end ends the call.
func (s *sampler) end() {
	s.taken = append(s.taken, sample{s.class(), max(s.clock()-s.since-clockTime(), 0)})
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
