package mpi_test

import (
	"os"
	"strings"
	"testing"

	"gomx/mpi"
)

// TestAllAbort: without a launcher every rank says once which rank has aborted the job, also if several do so at the same time.
func TestAllAbort(t *testing.T) {
	amongOthers(t)
	for range 5 {
		for rank, e := range job(t, "all abort", 4) {
			if e.code != 3 || strings.Count(e.output, "\n") != 1 || !strings.Contains(e.output, "no use") {
				t.Errorf("rank %d: exit code %d, %q", rank, e.code, e.output)
			}
		}
	}
}

func allAbort(world *mpi.Comm) error {
	if err := world.Barrier(); err != nil {
		return err
	}
	world.Abort(3, "no use")
	return nil
}

// TestSurvivorsSayOnce: without a launcher every rank prints one line when a process has ended without a word, also if several notice it
// at the same time.
func TestSurvivorsSayOnce(t *testing.T) {
	amongOthers(t)
	for range 2 {
		for rank, e := range job(t, "one exits", 4) {
			if rank != 1 && (e.code != 1 || strings.Count(e.output, "\n") != 1) {
				t.Errorf("rank %d: exit code %d, %q", rank, e.code, e.output)
			}
		}
	}
}

func oneExits(world *mpi.Comm) error {
	if err := world.Barrier(); err != nil {
		return err
	}
	if world.Rank() == 1 {
		os.Exit(3)
	}
	return world.Barrier()
}
