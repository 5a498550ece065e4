package driver

import "time"

// How long a caller who waits on a core of its own goes on serving without an offer of the core.
const (
	lull       = 5 * time.Microsecond  // behind what came last
	longServed = 20 * time.Microsecond // in all
)

// service is what a wait brings others: frames have come in it, but not what is waited for, such as atomics on a window of ours. An offer of
// the core takes longer than most of what they ask for, and who asks waits until it is over. So it comes in a lull, or now and then.
type service struct {
	came    time.Duration // the last look at the clock before which something had come
	offered time.Duration // the end of the last offer, or the first look at which there was none
}

func newService() service { return service{unread, unread} }

// goesOn reports whether the offer of this moment can wait. Moved says that something has come since the last look.
func (s *service) goesOn(now time.Duration, moved bool) bool {
	if moved {
		s.came = now
	}
	if s.offered == unread {
		s.offered = now
	}
	return s.came != unread && now-s.came < lull && now-s.offered < longServed
}
