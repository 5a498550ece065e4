package mpi_test

import (
	"errors"
	"strings"
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

// TestLocalUnfinishedCollective: a collective that one rank alone has begun is named at its Finalize, in a job of goroutines, too, where the others
// have left by then.
func TestLocalUnfinishedCollective(t *testing.T) {
	unchecked(t)
	out, err := local("alone in a collective", "MX_LOCAL=3")
	if err != nil || !strings.Contains(string(out), "mpi: rank 0: requests are not complete at Finalize, and are given up (Wait for each, or Cancel it): Ibarrier\n") {
		t.Errorf("%v, %s", err, out)
	}
}

func init() {
	programs["alone in a collective"] = func(world *mpi.Comm) error {
		d, err := world.Dup()
		if err == nil && world.Rank() == 0 {
			_, err = d.Ibarrier()
		}
		return err
	}
}
