//go:build linux && !amd64

package shm

import "sync/atomic"

// current loads a generation after all loads that come before in the program. An
// atomic load alone lets them pass: it is an acquire, which orders what comes
// after. Adding 0 also stores, and that store is a release. Who ends the export
// adds to the same word: after ours, and then our loads were before what it
// does next, or before ours, and then we see it.
func current(generation *uint64) uint64 { return atomic.AddUint64(generation, 0) }
