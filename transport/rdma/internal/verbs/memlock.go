//go:build linux && cgo

package verbs

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// MemoryLimitError says that the system lets this process lock less memory than is
// needed. It unwraps to what the system said.
type MemoryLimitError struct {
	Need   uint64 // bytes that were to be locked
	Locked uint64 // bytes that this process had locked already, if it is known
	Limit  uint64 // bytes that it may lock: RLIMIT_MEMLOCK
	err    error
}

// Error says what to do.
func (e *MemoryLimitError) Error() string {
	return fmt.Sprintf("%v: locking %s more than the %s that are locked exceeds the limit of %s (RLIMIT_MEMLOCK); "+
		"raise it to %s or more, with ulimit -l %d or LimitMEMLOCK=",
		e.err, kib(e.Need), kib(e.Locked), kib(e.Limit), kib(e.Need+e.Locked), (e.Need+e.Locked+1023)/1024)
}

// Unwrap returns syscall.ENOMEM.
func (e *MemoryLimitError) Unwrap() error { return e.err }

// kib counts in the unit of ulimit.
func kib(n uint64) string { return fmt.Sprintf("%d KiB", (n+1023)/1024) }

// explainLimit makes a MemoryLimitError of err if n bytes more, from start on, would
// exceed the limit.
func explainLimit(start uintptr, n int, err error) error {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit) != nil {
		return err
	}
	// The system counts whole pages.
	page := uint64(os.Getpagesize())
	need := (uint64(start)%page + uint64(n) + page - 1) / page * page
	locked := lockedBytes()
	if need <= limit.Cur && locked <= limit.Cur-need {
		return err
	}
	return &MemoryLimitError{Need: need, Locked: locked, Limit: limit.Cur, err: err}
}

// lockedBytes is how much memory devices have of this process. 0 stands for unknown.
func lockedBytes() uint64 {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmPin:"); ok {
			n, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return n << 10
		}
	}
	return 0
}
