package mpi_test

import (
	"context"
	"errors"
	"testing"

	"gomx/mpi"
)

// TestLeftOut: what Split gives a rank that is left out can be compared, and given a context, and calls on it return errors.
func TestLeftOut(t *testing.T) {
	world(t, 2, func(c *mpi.Comm) error {
		color := mpi.Undefined
		if c.Rank() == 0 {
			color = 0
		}
		part, err := c.Split(color, 0)
		if err != nil || c.Rank() == 0 {
			return err
		}
		if part != nil || c.Compare(part) != mpi.Unequal || part.Compare(c) != mpi.Unequal || part.Compare(nil) != mpi.Identical {
			return errors.New("comparisons with no communicator")
		}
		with := part.WithContext(context.Background())
		return errors.Join(wantError(with.Barrier(), mpi.ErrComm, mpi.Undefined), wantError(mpi.Send(with, one(), 0, 0), mpi.ErrComm, mpi.Undefined))
	})
}
