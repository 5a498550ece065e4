package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"gomx/mpi"
)

// brief is a context for a call that is to be given up.
func brief(c *mpi.Comm) (*mpi.Comm, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	return c.WithContext(ctx), cancel
}

// sum is an Allreduce of 1, whose result is right.
func sum(c *mpi.Comm) error {
	one, all := []int64{1}, []int64{0}
	if err := mpi.Allreduce(c, one, all, mpi.Sum); err != nil {
		return err
	}
	if all[0] != int64(c.Size()) {
		return fmt.Errorf("the sum of ones over %d ranks of %s is %d at rank %d", c.Size(), c.Name(), all[0], c.Rank())
	}
	return nil
}

// TestFreedContextIsForgotten: what was sent on a communicator that was freed is received by no other one.
func TestFreedContextIsForgotten(t *testing.T) {
	t.Run("collective", func(t *testing.T) {
		over(t, 3, func(c *mpi.Comm) error {
			for range 3 {
				d, err := c.Dup()
				if err != nil {
					return err
				}
				if d.Rank() != 0 {
					with, cancel := brief(d)
					seven, all := []int64{7}, []int64{0}
					err := mpi.Allreduce(with, seven, all, mpi.Sum)
					if cancel(); err == nil {
						return fmt.Errorf("rank %d: rank 0 does not take part, and the sum is %d", d.Rank(), all[0])
					}
				}
				if err := errors.Join(c.Barrier(), d.Free()); err != nil {
					return err
				}
				e, err := c.Dup()
				if err != nil {
					return err
				}
				if err := errors.Join(sum(e), c.Barrier(), e.Free()); err != nil {
					return err
				}
			}
			return nil
		})
	})
	t.Run("message", func(t *testing.T) {
		over(t, 2, func(c *mpi.Comm) error {
			for round := range 3 {
				d, err := c.Dup()
				if err != nil {
					return err
				}
				if d.Rank() == 0 {
					if err := mpi.Send(d, []int{-1}, 1, 4); err != nil {
						return err
					}
				}
				if err := errors.Join(c.Barrier(), d.Free()); err != nil {
					return err
				}
				e, err := c.Dup()
				if err != nil {
					return err
				}
				if e.Rank() == 0 {
					err = mpi.Send(e, []int{round}, 1, 4)
				} else {
					in := []int{0}
					if _, err = mpi.Recv(e, in, 0, 4); err == nil && in[0] != round {
						err = fmt.Errorf("round %d received %d", round, in[0])
					}
				}
				if err := errors.Join(err, c.Barrier(), e.Free()); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// TestFreeIgnoresTheContext: a communicator is freed whatever has become of the context.
func TestFreeIgnoresTheContext(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		d, err := c.Dup()
		if err != nil {
			return err
		}
		return errors.Join(d.WithContext(endedContext()).Free(), same([]int{mpi.ContextsInUse(c)}, []int{0}))
	})
}
