//go:build linux && !race && (amd64 || arm64)

package mpi_test

import (
	"errors"
	"math"
	"testing"

	"golang.org/x/sys/unix"

	"gomx/mpi"
)

// TestWinOfTheLargestLength: a window may have any length that its doc permits. Nothing touches most of the memory, which is
// not of Go's heap, for that clears what other tests have used before.
func TestWinOfTheLargestLength(t *testing.T) {
	const most = math.MaxUint32
	mem, err := unix.Mmap(-1, 0, most+1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		t.Skipf("this machine does not let a process map %d bytes: %v", most+1, err)
	}
	t.Cleanup(func() { _ = unix.Munmap(mem) })
	world(t, 1, func(c *mpi.Comm) error {
		w, err := mpi.WinCreate(c, mem[:most])
		if err != nil {
			return err
		}
		got := make([]byte, 2)
		if err := errors.Join(w.Fence(), w.Put([]byte{1, 2}, 0, most-2), w.Flush(0), w.Get(got, 0, most-2), w.Fence()); err != nil {
			return err
		}
		_, tooLong := mpi.WinCreate(c, mem)
		return errors.Join(same([]int{w.Len(0)}, []int{most}), same(got, []byte{1, 2}), wantError(tooLong, mpi.ErrCount, c.Rank()), w.Free())
	})
}
