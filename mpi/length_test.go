//go:build linux && !race && (amd64 || arm64)

package mpi_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"gomx/mpi"
)

// TestTooLongIsNotCopied: calls that copy what can't leave at once refuse what is too long before they do.
func TestTooLongIsNotCopied(t *testing.T) {
	long, err := unix.Mmap(-1, 0, math.MaxUint32+1, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON) // which nothing may touch; Go may clear what it makes
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(long) }()
	world(t, 1, func(c *mpi.Comm) error {
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
