package main

import (
	"io"
	"testing"

	"gomx/examples/internal/jobs"
	"gomx/mpi"
)

func TestSameForAnyNumberOfRanks(t *testing.T) {
	jobs.SameChecksum(t, func(world *mpi.Comm, w io.Writer) error { return run(world, 37, 41, 30, w) }, "-rows", "37", "-columns", "41", "-steps", "30")
}
