package mpi_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"gomx/mpi"
)

func init() { programs["survivors"] = survivors }

// TestSurvivorsFinalize: after a death Finalize fails, and names who has died, not others who have left because of that. The rank has left all the same: what it
// had sent arrives, though it has exited.
func TestSurvivorsFinalize(t *testing.T) {
	for _, transport := range []string{"shm", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			skipWithout(t, transport)
			for rank, e := range job(t, "survivors", 4, "MX_TRANSPORT="+transport) {
				if want := []int{0, 7, 0, 0}[rank]; e.code != want || e.output != "" {
					t.Errorf("rank %d: exit code %d, %s", rank, e.code, e.output)
				}
			}
		})
	}
}

func survivors(world *mpi.Comm) error {
	const last, wordless, messages = 5, 6, 2000
	if world.Rank() == 1 {
		for _, other := range []int{0, 2, 3} {
			if err := mpi.Ssend(world, one(), other, 0); err != nil {
				return err
			}
		}
		os.Exit(7)
	}
	if _, err := mpi.Recv(world, one(), 1, 0); err != nil {
		return err
	}
	if _, err := mpi.Recv(world, one(), 1, 1); !errors.Is(err, mpi.ErrProcFailed) {
		return fmt.Errorf("rank 1 lives: %w", err)
	}
	switch world.Rank() {
	case 0:
		for i := range messages {
			if err := mpi.Send(world, []int{i}, 2, last); err != nil {
				return err
			}
		}
	case 2:
		if _, err := mpi.Recv(world, one(), 0, wordless); !errors.Is(err, mpi.ErrProcFailed) {
			return fmt.Errorf("rank 0 lives: %w", err)
		}
		for i := range messages {
			in := one()
			if _, err := mpi.Recv(world, in, 0, last); err != nil || in[0] != i {
				return fmt.Errorf("message %d is %d, %w", i, in[0], err)
			}
		}
	}
	left := world.Finalize()
	if err := wantError(left, mpi.ErrProcFailed, world.Rank()); err != nil {
		return err
	}
	if !strings.Contains(left.Error(), "with rank 1: a process has failed: rank 1 of the world") {
		return fmt.Errorf("%q does not name the dead", left)
	}
	if err := wantError(world.Finalize(), mpi.ErrFinalized, world.Rank()); err != nil {
		return err
	}
	os.Exit(0)
	return nil
}
