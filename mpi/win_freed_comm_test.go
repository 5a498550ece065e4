package mpi_test

import (
	"errors"
	"fmt"
	"testing"

	"gomx/mpi"
)

// TestWinOutlivesItsCommunicator: a window works and is freed as ever when its communicator was freed, which keeps its contexts for as long.
func TestWinOutlivesItsCommunicator(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		for range 3 {
			d, err := c.Dup()
			if err != nil {
				return err
			}
			a, err := mpi.WinAllocate[int64](d, 4)
			if err != nil {
				return err
			}
			b, err := mpi.WinCreate(d, make([]int64, 2))
			if err != nil {
				return err
			}
			if err := errors.Join(d.Free(), wantError(d.Barrier(), mpi.ErrComm, d.Rank()), wantError(d.Free(), mpi.ErrComm, d.Rank())); err != nil {
				return err
			}
			if err := errors.Join(useWindows(a, b.WithContext(t.Context()), c.Rank()), useWindows(a, b, c.Rank())); err != nil {
				return err
			}
			if n := mpi.ContextsInUse(c); n != 2 {
				return fmt.Errorf("%d contexts in use, want one for each window", n)
			}
			if err := errors.Join(b.Free(), same([]int{mpi.ContextsInUse(c)}, []int{1}), a.Free(), same([]int{mpi.ContextsInUse(c)}, []int{0})); err != nil {
				return err
			}
			if err := errors.Join(wantError(a.Free(), mpi.ErrWin, c.Rank()), wantError(a.Fence(), mpi.ErrWin, c.Rank())); err != nil {
				return err
			}
			if err := c.Barrier(); err != nil {
				return err
			}
		}
		return nil
	})
}

// useWindows has two ranks use windows of four elements and of two.
func useWindows(a, b *mpi.Win[int64], self int) error {
	other, got := 1-self, make([]int64, 2)
	err := errors.Join(
		a.Fence(), a.Put([]int64{7, int64(self)}, other, 1), a.Fence(), same(a.Mem(), []int64{0, 7, int64(other), 0}),
		b.Fence(), b.Put([]int64{0, 0}, other, 0), b.Fence(),
		b.Lock(other, true), b.Accumulate([]int64{5}, other, 1, mpi.AccSum))
	old, fetch := b.FetchAndOp(1, other, 1, mpi.AccSum)
	return errors.Join(err, fetch, same([]int64{old}, []int64{5}), b.Unlock(other), b.Fence(), b.Get(got, other, 0), b.Fence(), same(got, []int64{0, 6}))
}
