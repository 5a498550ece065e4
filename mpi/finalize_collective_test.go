package mpi_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mpi"
)

// TestFinalizeBehindACollective has ranks finalize that have begun a collective and not waited for it.
func TestFinalizeBehindACollective(t *testing.T) {
	testlength.Long(t)
	for _, medium := range []string{"mem", "shm", "tcp"} {
		t.Run(medium, func(t *testing.T) {
			for range 20 {
				world(t, 3, func(c *mpi.Comm) error {
					b := make([]int64, 100_000)
					_, err := mpi.Iallreduce(c, b, b, mpi.Sum)
					return err
				}, mpi.WithTransports(medium))
			}
		})
	}
}

// TestFinalizeHeedsItsContext has ranks finalize with a receive that never ends: its context bounds how long Finalize waits for that,
// too, and not only how long it waits for the others.
func TestFinalizeHeedsItsContext(t *testing.T) {
	const deadline, most = 60 * time.Millisecond, 100 * time.Millisecond // Finalize by itself gives such a receive the longer time
	quickest := time.Hour
	for range 10 {
		var gaveUp atomic.Bool
		took := make([]time.Duration, 2)
		err := mpi.Run(2, func(c *mpi.Comm) error {
			if _, err := mpi.Irecv(c, make([]int64, 1), 1-c.Rank(), 5); err != nil {
				return err
			}
			if err := c.Barrier(); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			defer cancel()
			begin := time.Now()
			err := c.WithContext(ctx).Finalize()
			took[c.Rank()] = time.Since(begin)
			if errors.Is(err, context.DeadlineExceeded) { // the machine is busy
				gaveUp.Store(true)
				return nil
			}
			return err
		}, mpi.WithTransports("mem"))
		if gaveUp.Load() {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if quickest = min(quickest, max(took[0], took[1])); quickest < most {
			return
		}
	}
	if quickest < time.Hour {
		t.Errorf("Finalize took %v at least, with a deadline of %v", quickest, deadline)
	}
}
