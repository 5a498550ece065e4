package main

import (
	"io"
	"testing"

	"gomx/examples/internal/jobs"
	"gomx/mpi"
)

func TestSameForAnyNumberOfRanks(t *testing.T) {
	jobs.SameChecksum(t, func(world *mpi.Comm, w io.Writer) error { return run(world, 101, 5, w) }, "-bodies", "101", "-steps", "5")
}
