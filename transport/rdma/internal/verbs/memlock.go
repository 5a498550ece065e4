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

// Unwrap returns syscall.ENOMEM or, where the limit is 0, EPERM.
func (e *MemoryLimitError) Unwrap() error { return e.err }

// kib counts in the unit of ulimit.
func kib(n uint64) string { return fmt.Sprintf("%d KiB", (n+1023)/1024) }

// explainLimit makes a MemoryLimitError of err if n bytes more, from start on, would
// exceed the limit.
func explainLimit(start uintptr, n int, err error) error {
	limit, ok := limitOfLocks()
	if !ok {
		return err
	}
	// The system counts whole pages.
	page := uint64(os.Getpagesize())
	need := (uint64(start)%page + uint64(n) + page - 1) / page * page
	locked := lockedBytes()
	if need <= limit && locked <= limit-need {
		return err
	}
	return &MemoryLimitError{Need: need, Locked: locked, Limit: limit, err: err}
}

// limitOfLocks is RLIMIT_MEMLOCK.
func limitOfLocks() (bytes uint64, ok bool) {
	var limit unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit)
	return limit.Cur, err == nil
}

// MemoryLimit returns how many bytes this process may lock, and false if there is no
// limit for it, or none that is known.
func MemoryLimit() (bytes uint64, ok bool) {
	bytes, ok = limitOfLocks()
	return bytes, ok && bytes != unix.RLIM_INFINITY && !mayLockAnything()
}

// mayLockAnything reports whether the system does not ask for the limit.
func mayLockAnything() bool {
	set, _ := strconv.ParseUint(status("CapEff"), 16, 64)
	return set>>unix.CAP_IPC_LOCK&1 != 0
}

// lockedBytes is how much memory devices have of this process. 0 stands for unknown.
func lockedBytes() uint64 {
	n, _ := strconv.ParseUint(strings.TrimSuffix(status("VmPin"), " kB"), 10, 64)
	return n << 10
}

// status returns what the system says of this process under a name.
func status(name string) string {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
