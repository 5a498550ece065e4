package mpi_test

import (
	"errors"
	"fmt"
	"testing"

	"gomx/mpi"
)

// TestSendrecvReplaceRefusedSendsNothing: a SendrecvReplace that is refused for its source or its receive tag has sent nothing.
func TestSendrecvReplaceRefusedSendsNothing(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		const tag = 4
		if _, err := mpi.SendrecvReplace(c, []int{0}, 1-c.Rank(), tag, 1-c.Rank(), tag); err != nil { // connects
			return err
		}
		if c.Rank() == 1 {
			for _, wrong := range []struct {
				source, tag int
				class       mpi.ErrorClass
			}{{2, 1, mpi.ErrRank}, {-3, 1, mpi.ErrRank}, {0, -5, mpi.ErrTag}, {0, mpi.TagUB + 1, mpi.ErrTag}} {
				if _, err := mpi.SendrecvReplace(c, []int{1}, 0, tag, wrong.source, wrong.tag); !errors.Is(err, wrong.class) {
					return fmt.Errorf("source %d, tag %d: %w", wrong.source, wrong.tag, err)
				}
			}
			return errors.Join(mpi.Send(c, []int{2}, 0, tag), c.Barrier())
		}
		var got [1]int
		if _, err := mpi.Recv(c, got[:], 1, tag); err != nil || got[0] != 2 {
			return fmt.Errorf("%d has come: %w", got[0], err)
		}
		return c.Barrier()
	})
}
