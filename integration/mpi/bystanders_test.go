//go:build linux

package mpi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gomx/integration/internal/proc"
	"gomx/mpi"
)

func init() {
	launched["dies"] = func(world *mpi.Comm) error {
		if err := world.Barrier(); err != nil {
			return err
		}
		if world.Rank() == failsFirst {
			os.Exit(9)
		}
		sum := make([]float64, 4)
		return mpi.Allreduce(world, sum, sum, mpi.Sum)
	}
}

// TestBystandersAreSilent: of a job in which a rank dies the others, which miss it, say nothing.
func TestBystandersAreSilent(t *testing.T) {
	t.Parallel()
	run := filepath.Join(proc.Build(t, "cmd/mx_run"), "mx_run")
	overEach(t, func(t *testing.T, medium string) {
		t.Parallel()
		for range times(5) {
			lines, status := start(t, run, medium, 8, "dies").Ends()
			if status != 9 || len(lines) != 1 || !strings.HasPrefix(lines[0], fmt.Sprintf("mx_run: rank %d (process", failsFirst)) {
				t.Errorf("status %d:\n%s", status, strings.Join(lines, "\n"))
			}
		}
	})
}
