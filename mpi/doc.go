// Package mpi lets you write SPMD programs in Go: ranks that exchange typed messages, with the names and semantics of MPI. It
// uses the endpoints of package mx.
//
// # Use
//
// The ranks of a program are processes, or goroutines of one process. The program is the same in both cases:
//
//	mpi.Main(func(world *mpi.Comm) error {
//		sum := []float64{0}
//		mine := []float64{float64(world.Rank())}
//		return mpi.Allreduce(world, mine, sum, mpi.Sum)
//	})
//
// Under a launcher each process is a rank. Run makes n ranks in one process, for tests and for programs that need one
// process only.
//
// # Communicators
//
// A communicator is a group of ranks with a context of its own: its messages match only receives on the same communicator.
// Its methods, and the functions that take one, are MPI's with Go names. Functions are generic over the elements of a
// buffer, which may have any type without pointers that has at least a byte. Elements are sent in their representation in
// memory, so all hosts must have the same byte order. Messages carry no type: an int64 that is received as a float64 is not detected, unless checks
// are enabled: see WithCheckedCollectives, or MX_CHECK in docs/environment.md.
//
// # Waiting
//
// Calls block until they complete. WithContext returns the same communicator with a context.Context that ends blocking calls:
// their errors wrap the context's, and also ErrGivenUp if the operation has failed because of it.
//
// # Errors
//
// A call that fails returns an *Error, which names the call, the communicator, the calling rank, the peer and the tag. Error
// classes are compared with errors.Is: errors.Is(err, mpi.ErrTruncate). Operations that depend on a failed rank end with
// ErrProcFailed. After an abort all calls return ErrAborted.
//
// # Windows
//
// A Win is memory that other ranks read, write and accumulate to, without a call of its owner.
//
// # Hangs
//
// If a call blocks for longer than MX_HANG_TIMEOUT, rank 0 prints a hang report: what all ranks wait for, and which ranks wait
// for each other. Comm.HangReport returns one at any time. A certain deadlock ends the job if the variable is set. Failure
// notices go to all ranks.
//
// # Concurrency
//
// All functions may be called from any goroutine. A request may be waited for or tested by one goroutine at a time.
// Collective calls on a communicator must be made in the same order on all its ranks.
//
// # Match bits
//
// The 64 bits of match information are, from the highest on: 21 bits of context, which identify the communicator, and of
// which the lowest marks messages of collectives; 20 bits with the sender's rank in the communicator; 23 bits of tag.
//
// # Compatibility
//
// The exported names of this package follow semantic versioning: from v1.0.0 on, a program that compiles and works with one
// version does so with every later one of the same major version. Before that, CHANGELOG.md lists what changes.
//
// Read comm.go next, then send.go and recv.go.
package mpi
