package driver

import "time"

// These constants bound how long sockets spin on a shared core.
const (
	rationShare = 64                     // they spin for one part in so many of the time
	mostRation  = 500 * time.Microsecond // upper bound of what waits that did not spin leave for later ones
)

// ration says when a wait at a Waiter may spin on a shared core. Sockets wait there, and those who want the core are often the program's
// other goroutines and its peers: spins in a busy flow of requests cost more of the processor than they save in time, while those of waits
// that come now and then cost little.
type ration struct {
	left  time.Duration // for which such waits may still spin
	since time.Duration // when that was counted
}

// grant reports whether a wait may spin that begins now.
func (r *ration) grant(now time.Duration) bool {
	r.left = min(r.left+(now-r.since)/rationShare, mostRation)
	r.since = now
	return r.left > 0
}

// spend notes for how long a wait has spun.
func (r *ration) spend(t time.Duration) { r.left -= t }
