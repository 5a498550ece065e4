package main

import (
	"io"
	"testing"

	"gomx/examples/internal/jobs"
	"gomx/mpi"
)

func TestSameForAnyNumberOfRanks(t *testing.T) {
	output := func(ranks int) string {
		out := jobs.Output(t, ranks, func(world *mpi.Comm, w io.Writer) error { return run(world, 10_007, w) })
		return jobs.Line(t, out, "checksum")
	}
	alone := output(1)
	for ranks := 2; ranks <= 5; ranks++ {
		if got := output(ranks); got != alone {
			t.Errorf("%d ranks: %salone: %s", ranks, got, alone)
		}
	}
}
