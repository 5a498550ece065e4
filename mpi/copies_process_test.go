package mpi_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"gomx/mpi"
)

func init() { programs["last copy"] = lastCopyToTheDead }

// TestFinalizeReportsAFailedCopy: a rank that sends no other message learns from Finalize of a buffered message that was not received.
func TestFinalizeReportsAFailedCopy(t *testing.T) {
	amongOthers(t)
	for _, transport := range []string{"shm", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			amongOthers(t)
			skipWithout(t, transport)
			for rank, e := range job(t, "last copy", 2, "MX_TRANSPORT="+transport) {
				if want := []int{0, 7}[rank]; e.code != want || e.output != "" {
					t.Errorf("rank %d: exit code %d, %s", rank, e.code, e.output)
				}
			}
		})
	}
}

func lastCopyToTheDead(world *mpi.Comm) error {
	one := make([]int64, 1)
	if world.Rank() == 1 {
		if _, err := mpi.Recv(world, one, 0, 0); err != nil {
			return err
		}
		os.Exit(7)
	}
	if err := errors.Join(mpi.Bsend(world, make([]int64, 50_000), 1, 17), mpi.Send(world, one, 1, 0)); err != nil {
		return err
	}
	err := world.Finalize()
	if err := wantError(err, mpi.ErrProcFailed, 0); err != nil {
		return err
	}
	for _, part := range []string{"earlier Bsend", "with rank 1", "tag 17", "rank 1 of the world"} {
		if !strings.Contains(err.Error(), part) {
			return fmt.Errorf("%q does not name %q", err, part)
		}
	}
	os.Exit(0)
	return nil
}
