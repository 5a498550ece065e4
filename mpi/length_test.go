//go:build !race && (amd64 || arm64)

package mpi_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"

	"gomx/mpi"
)

// TestTooLongIsNotCopied: calls that copy what can't leave at once refuse what is too long before they do.
func TestTooLongIsNotCopied(t *testing.T) {
	world(t, 1, func(c *mpi.Comm) error {
		long := make([]byte, math.MaxUint32+1) // which nothing touches
		for name, call := range map[string]func() error{
			"Bsend":           func() error { return mpi.Bsend(c, long, 0, 3) },
			"Ibsend":          func() error { return second(mpi.Ibsend(c, long, 0, 3)) },
			"SendrecvReplace": func() error { return second(mpi.SendrecvReplace(c, long, 0, 3, 0, 3)) },
		} {
			before := allocated()
			err := call()
			if took := allocated() - before; took > uint64(len(long))/2 {
				return fmt.Errorf("%s has allocated %d bytes", name, took)
			}
			if err := wantError(err, mpi.ErrCount, 0); err != nil {
				return errors.Join(errors.New(name), err)
			}
		}
		return nil
	})
}

// allocated returns how many bytes the process has allocated.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
