package main

import (
	"fmt"
	"io"
	"testing"

	"gomx/examples/internal/jobs"
	"gomx/mpi"
)

func TestTokenCountsRanks(t *testing.T) {
	const laps, length = 10, 10_000
	for ranks := 1; ranks <= 5; ranks++ {
		out := jobs.Output(t, ranks, func(world *mpi.Comm, w io.Writer) error { return run(world, laps, length, w) })
		jobs.Line(t, out, fmt.Sprintf("the token is %d after", laps*ranks*(ranks-1)/2))
		jobs.Line(t, out, "all blocks have come home")
	}
}

func TestProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it builds two programs")
	}
	out := jobs.Launched(t, 3, "-laps", "10")
	jobs.Line(t, out, "the token is 30 after 10 laps of 3 ranks")
}
