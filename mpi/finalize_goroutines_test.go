package mpi_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"gomx/mpi"
)

// TestFinalizeOfSeveralGoroutines: one of the calls of a rank ends the rank's part in the job, and the others say that they came too late.
func TestFinalizeOfSeveralGoroutines(t *testing.T) {
	for range 20 {
		world(t, 3, func(c *mpi.Comm) error {
			var calls sync.WaitGroup
			var ended atomic.Int32
			for range 4 {
				calls.Go(func() {
					if err := c.Finalize(); err == nil {
						ended.Add(1)
					} else if !errors.Is(err, mpi.ErrFinalized) {
						t.Error(err)
					}
				})
			}
			calls.Wait()
			if n := ended.Load(); n != 1 {
				t.Errorf("%d calls of Finalize have ended well", n)
			}
			return nil
		})
	}
}
