package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"gomx/mpi"
)

func endedContext() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// TestWinUndoesWithoutItsContext: what gives something back does so, whatever has become of the context.
func TestWinUndoesWithoutItsContext(t *testing.T) {
	over(t, 3, func(c *mpi.Comm) error {
		w, err := mpi.WinAllocate[int64](c, 10)
		if err != nil {
			return err
		}
		late := w.WithContext(endedContext())
		next := (c.Rank() + 1) % c.Size()
		for range 5 {
			one := errors.Join(w.Lock(next, true), w.Accumulate([]int64{1}, next, 3, mpi.AccSum), late.Unlock(next))
			if err := errors.Join(one, w.LockAll(), late.UnlockAll(), w.Lock(0, true), late.Unlock(0)); err != nil {
				return err
			}
		}
		if err := errors.Join(w.Fence(), same(w.Mem()[3:4], []int64{5}), w.Fence()); err != nil {
			return err
		}
		return late.Free()
	})
}

// TestWinLockAllIsAllOrNothing: whoever does not get all locks keeps none, and can try again.
func TestWinLockAllIsAllOrNothing(t *testing.T) {
	over(t, 3, func(c *mpi.Comm) error {
		w, err := mpi.WinAllocate[int64](c, 1)
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			err = w.Lock(2, true)
		}
		if err := errors.Join(err, c.Barrier()); err != nil {
			return err
		}
		if c.Rank() == 1 {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
			defer cancel()
			if err := w.WithContext(ctx).LockAll(); !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("LockAll beside an exclusive lock: %v", err)
			}
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		if c.Rank() == 2 { // rank 0 holds its lock still, and nobody another one
			ctx, cancel := context.WithTimeout(context.Background(), bound/2)
			defer cancel()
			for rank := range 2 {
				err = errors.Join(err, w.WithContext(ctx).Lock(rank, true), w.Unlock(rank))
			}
		}
		if err := errors.Join(err, c.Barrier()); err != nil {
			return err
		}
		if c.Rank() == 0 {
			err = w.Unlock(2)
		}
		return errors.Join(err, w.LockAll(), w.UnlockAll(), w.Free())
	})
}
