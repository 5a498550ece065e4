// Package sock reads and writes TCP sockets without the Go poller.
//
// The rules it relies on:
//
//   - A descriptor that Take returns belongs to the caller, who closes it once,
//     with Close, and uses it no more.
//   - All calls are non-blocking, so they are made as raw ones: the scheduler is not told.
//     A call moves a megabyte or so at most, and takes the time of the copy.
//   - Memory is given to the system as slices, which live in the caller's frame or
//     in a Batch during the call. The system keeps no address after the call.
//   - A Batch holds pointers of the usual kind, so the garbage collector sees what
//     it points to; it lets go of them when the call is over.
package sock
