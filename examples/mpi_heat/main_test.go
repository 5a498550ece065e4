package main

import (
	"io"
	"testing"

	"gomx/examples/internal/jobs"
	"gomx/mpi"
)

func checksum(t *testing.T, ranks int) string {
	out := jobs.Output(t, ranks, func(world *mpi.Comm, w io.Writer) error { return run(world, 37, 41, 30, w) })
	return jobs.Line(t, out, "checksum")
}

func TestSameForAnyNumberOfRanks(t *testing.T) {
	want := checksum(t, 1)
	for ranks := 2; ranks <= 5; ranks++ {
		if got := checksum(t, ranks); got != want {
			t.Errorf("%d ranks: %salone: %s", ranks, got, want)
		}
	}
}

func TestSameForProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it builds two programs")
	}
	out := jobs.Launched(t, 3, "-rows", "37", "-columns", "41", "-steps", "30")
	if got, want := jobs.Line(t, out, "checksum"), checksum(t, 1); got != want {
		t.Errorf("3 processes: %salone: %s", got, want)
	}
}
