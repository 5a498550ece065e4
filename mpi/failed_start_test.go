package mpi_test

import (
	"fmt"
	"strings"
	"testing"

	"gomx/internal/testlength"
)

// TestFailedInitIsHeardOf: a rank whose Init fails before all have met tells the others, which would wait for the whole of MX_MEET_TIMEOUT otherwise.
func TestFailedInitIsHeardOf(t *testing.T) {
	testlength.Long(t)
	amongOthers(t)
	skipWithout(t, "tcp")
	for failing := range 2 {
		says := fmt.Sprintf("rank %d can't go on: ", failing)
		for rank, e := range job(t, fmt.Sprint(unstarted, failing), 3, "MX_TRANSPORT=tcp") {
			if e.code != 1 || strings.Contains(e.output, says) == (rank == failing) || !strings.Contains(e.output, "none") {
				t.Errorf("with rank %d: rank %d: exit code %d, %s", failing, rank, e.code, e.output)
			}
		}
	}
}

// unstarted begins the names of programs whose Init fails at the rank that is named behind it.
const unstarted = "unstarted at rank "
