//go:build linux

package shm

import "sync/atomic"

// current loads a generation after all loads that come before in the program. On
// amd64 loads are made in their order.
func current(generation *uint64) uint64 { return atomic.LoadUint64(generation) }
