//go:build unix

package usage

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Self returns the processor time of all threads of this process since it was
// started, in user mode and in the kernel.
func Self() (time.Duration, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("asking for the processor time of this process: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
