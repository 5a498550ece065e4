package mpi_test

import (
	"testing"

	"gomx/mpi"
)

// BenchmarkLocksInTurn has each of two ranks take the exclusive locks of both in turn, and add to what they are for: half of them wait for
// the other rank, which may wait for this one's memory.
func BenchmarkLocksInTurn(b *testing.B) {
	world(b, 2, func(c *mpi.Comm) error {
		w, err := mpi.WinAllocate[int64](c, 1)
		if err != nil {
			return err
		}
		for i := range b.N {
			to := (c.Rank() + i) % 2
			if err := w.Lock(to, true); err != nil {
				return err
			}
			if _, err := w.FetchAndOp(1, to, 0, mpi.AccSum); err != nil {
				return err
			}
			if err := w.Unlock(to); err != nil {
				return err
			}
		}
		return w.Free()
	})
}
