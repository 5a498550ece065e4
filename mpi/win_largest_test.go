//go:build !race && (amd64 || arm64)

package mpi_test

import (
	"errors"
	"math"
	"testing"

	"gomx/mpi"
)

// TestWinOfTheLargestLength: a window may have any length that its doc permits. Nothing touches most of the memory.
func TestWinOfTheLargestLength(t *testing.T) {
	const most = math.MaxUint32
	world(t, 1, func(c *mpi.Comm) error {
		w, err := mpi.WinCreate(c, make([]byte, most))
		if err != nil {
			return err
		}
		got := make([]byte, 2)
		if err := errors.Join(w.Fence(), w.Put([]byte{1, 2}, 0, most-2), w.Flush(0), w.Get(got, 0, most-2), w.Fence()); err != nil {
			return err
		}
		_, tooLong := mpi.WinCreate(c, make([]byte, most+1))
		return errors.Join(same([]int{w.Len(0)}, []int{most}), same(got, []byte{1, 2}), wantError(tooLong, mpi.ErrCount, c.Rank()), w.Free())
	})
}
