// Package mpi makes a parallel program of a Go program: ranks that exchange typed
// messages, with the vocabulary of MPI, on the endpoints of package mx.
//
// # Use
//
// The ranks of a program are its processes, or goroutines of one process. The program
// is the same:
//
//	mpi.Main(func(world *mpi.Comm) error {
//		sum := []float64{0}
//		mine := []float64{float64(world.Rank())}
//		return mpi.Allreduce(world, mine, sum, mpi.Sum)
//	})
//
// Under a launcher each process is a rank. Run makes n ranks in one process, for tests
// and for programs that need no more than that.
//
// # Communicators
//
// A communicator is a group of ranks that exchange messages apart from all others. Its
// methods and the functions that take one are MPI's with Go names. Functions are generic over
// the elements of a buffer, which may be of any type without pointers; a slice's bytes
// travel as they lie in memory, between hosts of one byte order. Messages don't say what
// they consist of: an int64 that is received as a float64 is no error, and its bits are taken for one,
// unless the ranks check what they do: see WithCheckedCollectives, or MX_CHECK in docs/environment.md.
//
// # Waiting
//
// Calls block until they are done. WithContext returns the same communicator with a
// context.Context that ends calls which block: their errors wrap the context's, and ErrGivenUp if the operation has failed by it.
//
// # Errors
//
// A call that could not be carried out returns an *Error, which names the call, the
// communicator, the own rank, the peer and the tag. It works with errors.Is and the
// classes: errors.Is(err, mpi.ErrTruncate). A rank that has died ends what waits for it with
// ErrProcFailed. After an abort all calls return ErrAborted.
//
// # Windows
//
// A Win is memory that other ranks read, write and combine with while its owner computes.
//
// # Hangs
//
// A call that blocks for longer than MX_HANG_TIMEOUT has rank 0 print what all ranks wait
// for, and who waits for whom; Comm.HangReport returns it at any time. A deadlock that is certain ends the
// job if the variable is set. The news of a death goes to all ranks.
//
// # Concurrency
//
// All functions may be called from any goroutine. A request may be waited for or tested by one
// goroutine at a time, and collective calls on a communicator must begin in the
// same order on all its ranks.
//
// # Match bits
//
// Of the 64 bits that mx matches, the upper 21 are the context of the
// communicator, whose lowest bit says that the message belongs to a
// collective, 20 the sender's rank in it, and the lower 23 the tag.
//
// # Compatibility
//
// The exported names of this package follow semantic versioning: from v1.0.0 on, a program that compiles and works with one
// version does so with every later one of the same major version. Before that, CHANGELOG.md lists what changes.
//
// Read comm.go next, then send.go and recv.go.
package mpi
