package jobs

import (
	"io"
	"testing"

	"gomx/mpi"
)

// SameChecksum runs an example alone, with other numbers of ranks, and as processes with the arguments that
// do the same. The line with its checksum must come out the same each time.
func SameChecksum(t *testing.T, run func(world *mpi.Comm, w io.Writer) error, args ...string) {
	t.Helper()
	const line = "checksum"
	want := Line(t, Output(t, 1, run), line)
	for ranks := 2; ranks <= 5; ranks++ {
		if got := Line(t, Output(t, ranks, run), line); got != want {
			t.Errorf("%d ranks: %salone: %s", ranks, got, want)
		}
	}
	t.Run("processes", func(t *testing.T) {
		if testing.Short() {
			t.Skip("-short: it starts processes")
		}
		if got := Line(t, Launched(t, 3, args...), line); got != want {
			t.Errorf("3 processes: %salone: %s", got, want)
		}
	})
}
