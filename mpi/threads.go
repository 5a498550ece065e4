package mpi

import "gomx/mx"

// ThreadLevel says which goroutines of a rank make its calls; MPI calls them threads (MPI-4, 11.6).
type ThreadLevel int

// The levels of MPI_Init_thread. Each allows what those before it allow.
const (
	ThreadSingle     ThreadLevel = iota // the rank is one goroutine
	ThreadFunneled                      // one of its goroutines makes the calls
	ThreadSerialized                    // any does, one at a time
	ThreadMultiple                      // any does, at the same time
)

// WithThreadLevel promises what goroutines of a rank will do. ThreadMultiple is what there is without it. Below
// that, calls take a lock that costs them next to nothing: some 20 ns less for a round trip's half. Everything
// else works as always; the first nonblocking collective, which the library's own goroutine may advance, ends the promise.
// The program keeps its goroutines in order by channels, mutexes and the like. Calls at the
// same time corrupt the rank's endpoint; the first that is seen panics, and names the promise (mx.SingleThreaded). go run -race
// shows both calls.
func WithThreadLevel(l ThreadLevel) Option {
	return func(s *settings) { s.threads = l }
}

// threadParams are what the endpoints of ranks are opened with for that.
func (s *settings) threadParams() []mx.Param {
	if s.threads < ThreadMultiple {
		return []mx.Param{mx.SingleThreaded()}
	}
	return nil
}
