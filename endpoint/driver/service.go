package driver

import "time"

// These constants say how long a caller that waits on a core of its own serves peers before it offers the core.
const (
	lull       = 5 * time.Microsecond  // time without a frame after which it offers the core
	longServed = 20 * time.Microsecond // time after which it offers the core in any case
)

// service delays offers of the core while a wait handles frames for others, such as atomics on a window of this endpoint. An offer
// takes longer than most of these operations, and the peer that asks for one would have to wait until it is over. So the core
// is offered when no frame has come for a moment, or after some time. Where offers are dear it delays those of every wait.
type service struct {
	pause   time.Duration // least time between two offers
	came    time.Duration // when the clock was last read after a frame had come
	offered time.Duration // the end of the last offer or, before the first one, when the clock was first read
}

func newService(pause time.Duration) service { return service{pause, unread, unread} }

// goesOn reports whether the offer can wait. moved says that a frame has come since the clock was last read.
func (s *service) goesOn(now time.Duration, moved bool) bool {
	if moved {
		s.came = now
	}
	if s.offered == unread {
		s.offered = now
	}
	return now-s.offered < s.pause || s.came != unread && now-s.came < lull && now-s.offered < longServed
}
