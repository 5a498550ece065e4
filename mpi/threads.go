package mpi

import (
	"fmt"

	"gomx/mx"
)

// ThreadLevel says which goroutines of a rank make its calls; MPI calls them threads (MPI-4, 11.6).
type ThreadLevel int

// The levels of MPI_Init_thread. Each allows what those before it allow.
const (
	ThreadSingle     ThreadLevel = iota // the rank is one goroutine
	ThreadFunneled                      // one of its goroutines makes the calls
	ThreadSerialized                    // any does, one at a time
	ThreadMultiple                      // any does, at the same time
)

// WithThreadLevel promises how goroutines of a rank make calls. The default is ThreadMultiple. With a lower level,
// calls take the endpoint lock in single-threaded mode, which saves some 20 ns for each message. Everything else works
// as usual. The first nonblocking collective disables single-threaded mode, since the library's own goroutine may
// advance it. The program must order its calls by channels, mutexes and the like. Concurrent calls corrupt the rank's
// endpoint; the first that is detected panics with the name of the promise (mx.SingleThreaded), and go run -race shows
// both calls.
func WithThreadLevel(l ThreadLevel) Option {
	return func(s *settings) {
		if s.threads = l; l < ThreadSingle || l > ThreadMultiple {
			s.refuse(fmt.Errorf("WithThreadLevel(%d): the levels are ThreadSingle, ThreadFunneled, ThreadSerialized and ThreadMultiple", l))
		}
	}
}

// threadParams are what the endpoints of ranks are opened with for that.
func (s *settings) threadParams() []mx.Param {
	if s.threads < ThreadMultiple {
		return []mx.Param{mx.SingleThreaded()}
	}
	return nil
}
