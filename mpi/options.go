package mpi

import (
	"fmt"
	"os"
	"time"

	"gomx/mpi/internal/coll"
	"gomx/mpi/internal/variables"
	"gomx/mx"
)

// Option changes what Init, Run or Main makes.
type Option func(*settings)

type settings struct {
	params  []mx.Param
	threads ThreadLevel
	local   int // MX_LOCAL

	algorithms *coll.Overrides
	check      bool          // collectives compare what the ranks are about to do, and receives the types of elements
	hang       time.Duration // how long a call blocks before the job is asked why; 0: for ever
	hangEnds   bool          // a deadlock that is certain ends the job
	onHang     func(*HangReport)
	wrong      error
}

// WithTransports chooses the transports by name, in order of preference, as
// mx.WithTransports does. Run takes "mem" otherwise, which serves one process.
func WithTransports(names ...string) Option { return WithEndpoint(mx.WithTransports(names...)) }

// WithEndpoint opens the endpoints of the ranks with these parameters.
func WithEndpoint(params ...mx.Param) Option {
	return func(s *settings) { s.params = append(s.params, params...) }
}

// WithCheckedCollectives has every collective first compare what the ranks are about to do,
// as MX_CHECK=1 does. Where they differ, all of them return the same ErrMismatch, which says what
// two of them are about to do. Messages say what their elements consist of, and a receive into a buffer of something else returns ErrType,
// which names both. All ranks must have it: Init returns ErrLaunch if only some do.
func WithCheckedCollectives() Option { return func(s *settings) { s.check = true } }

// WithHangTimeout reports calls that block for longer than d, and ends the job if it can't go on, as MX_HANG_TIMEOUT
// does. 0 disables both, and less is an error of Init. See Comm.HangReport.
func WithHangTimeout(d time.Duration) Option {
	return func(s *settings) {
		if s.hang, s.hangEnds = max(d, 0), d > 0; d < 0 {
			s.refuse(fmt.Errorf("WithHangTimeout(%v): a timeout is at least 0, which disables it", d))
		}
	}
}

// WithHangHandler has f called with what is printed otherwise when a call has blocked for longer than the time of
// MX_HANG_TIMEOUT or WithHangTimeout: a report for each state that the job stands still in. That is in the process of rank 0, or of the first rank that
// answers, in a goroutine of its own, one report at a time. If the deadlock is certain, and the time was set, the job ends when f has
// returned.
func WithHangHandler(f func(*HangReport)) Option { return func(s *settings) { s.onHang = f } }

// WithAlgorithms chooses algorithms of collectives, as MX_COLL does and after it: a list such
// as "allreduce=rabenseifner,bcast=flat". All ranks must have the same. See Comm.Algorithm.
func WithAlgorithms(list string) Option {
	return func(s *settings) {
		if err := s.algorithms.Parse(list); err != nil {
			s.refuse(err)
		}
	}
}

// refuse notes what is wrong with an option. The first is what Init returns.
func (s *settings) refuse(err error) {
	if s.wrong == nil {
		s.wrong = err
	}
}

// settingsOf returns what the environment and the options say, in this order.
func settingsOf(opts []Option) (settings, error) {
	s := defaultSettings()
	if err := variables.Read(table, &s, os.Getenv); err != nil {
		return s, err
	}
	for i, o := range opts {
		if o == nil {
			s.refuse(fmt.Errorf("option %d of %d is nil: leave it out of the list", i+1, len(opts)))
			continue
		}
		o(&s)
	}
	return s, s.wrong
}
