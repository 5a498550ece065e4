//go:build !linux

package tracefile

// monotonic returns what to add to nanoseconds for a clock that processes of the host share as far as nobody sets
// their clocks, and its name.
func monotonic() (offset int64, name string) { return started.UnixNano(), "wall clock" }
