package mpi_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"gomx/mpi"
)

// TestWindowsHaveOrdersOfTheirOwn: the collective calls of a window match each other alone, whatever other goroutines call meanwhile on other
// windows and on the communicator (MPI-4.1, section 12.7: matching is by communicator and window, each in the order of the calls).
func TestWindowsHaveOrdersOfTheirOwn(t *testing.T) {
	const ranks, rounds = 3, 40
	overMany(t, ranks, func(c *mpi.Comm) error {
		failed := make(chan error, 3)
		var all sync.WaitGroup
		for k := range 2 {
			w, err := mpi.WinAllocate[int64](c, ranks)
			if err != nil {
				return err
			}
			all.Go(func() { failed <- errors.Join(fenceRounds(c, w, k, rounds), w.Free()) })
		}
		all.Go(func() {
			for round := range rounds {
				sum := make([]int32, 1)
				if err := mpi.Allreduce(c, []int32{int32(round)}, sum, mpi.Sum); err != nil || sum[0] != int32(ranks*round) {
					failed <- fmt.Errorf("Allreduce %d gives %d: %w", round, sum[0], err)
					return
				}
			}
			failed <- nil
		})
		all.Wait()
		return errors.Join(<-failed, <-failed, <-failed)
	})
}

// fenceRounds has each rank put a number to all, and looks that behind the Fence all are there.
func fenceRounds(c *mpi.Comm, w *mpi.Win[int64], k, rounds int) error {
	for round := range rounds {
		time.Sleep(time.Duration((c.Rank()*7+k*5+round*3)%4) * time.Millisecond / 2) // the windows take turns otherwise than at other ranks
		if err := w.Fence(); err != nil {
			return err
		}
		for rank := range c.Size() {
			if err := w.Put([]int64{int64(1000*k + 10*round + c.Rank())}, rank, c.Rank()); err != nil {
				return err
			}
		}
		if err := w.Fence(); err != nil {
			return err
		}
		for rank, got := range w.Mem() {
			if want := int64(1000*k + 10*round + rank); got != want {
				return fmt.Errorf("window %d, round %d: rank %d has put %d, and %d is there", k, round, rank, want, got)
			}
		}
	}
	return nil
}

// TestFenceBesideABarrier: a Fence does not wait for a barrier of the communicator that another rank has called before it, nor end with it.
func TestFenceBesideABarrier(t *testing.T) {
	over(t, 3, func(c *mpi.Comm) error {
		w, err := mpi.WinAllocate[int64](c, 1)
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			q, err := c.Ibarrier()
			if err != nil {
				return err
			}
			time.Sleep(50 * time.Millisecond)
			return errors.Join(w.Fence(), w.Put([]int64{8}, 1, 0), w.Fence(), mpi.WaitAll([]mpi.Request{q}, nil), w.Free())
		}
		if err := errors.Join(w.Fence(), w.Fence()); err != nil {
			return err
		}
		if got := w.Mem()[0]; c.Rank() == 1 && got != 8 {
			return fmt.Errorf("%d behind the second Fence, not 8", got)
		}
		q, err := c.Ibarrier()
		if err != nil {
			return err
		}
		return errors.Join(mpi.WaitAll([]mpi.Request{q}, nil), w.Free())
	})
}
