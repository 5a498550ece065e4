package mpi_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mpi"
)

// TestOrderlyJobsWarnOfNothing: a job that has lasted long enough for its processes to watch each other ends without a warning.
func TestOrderlyJobsWarnOfNothing(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	skipWithout(t, "shm")
	for rank, e := range job(t, "orderly", 4, "MX_LOG=warn") {
		if e.code != 0 || strings.Contains(e.output, "WARN") {
			t.Errorf("rank %d: exit code %d, %s", rank, e.code, e.output)
		}
	}
}

func orderly(world *mpi.Comm) error {
	err := world.Barrier()
	time.Sleep(1500 * time.Millisecond) // they begin after a second
	return errors.Join(err, world.Barrier())
}
