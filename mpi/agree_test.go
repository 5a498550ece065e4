package mpi_test

import (
	"strings"
	"testing"

	"gomx/internal/testlength"
)

// TestCheckOfSomeRanks: where not all ranks check, none gets beyond Init, and each says which two differ.
func TestCheckOfSomeRanks(t *testing.T) {
	testlength.Long(t)
	amongOthers(t)
	unchecked(t)
	for rank, e := range job(t, "partly", 3) {
		if e.code != 1 || !strings.Contains(e.output, "rank 1 has MX_CHECK=1") || !strings.Contains(e.output, "rank 0 has not") {
			t.Errorf("rank %d: exit code %d, %q", rank, e.code, e.output)
		}
	}
}

// TestAlgorithmsOfSomeRanks: where ranks have different algorithms, none gets beyond Init, and each says which two differ.
func TestAlgorithmsOfSomeRanks(t *testing.T) {
	testlength.Long(t)
	amongOthers(t)
	for rank, e := range job(t, "flat", 3) {
		if e.code != 1 || !strings.Contains(e.output, `rank 1 has MX_COLL or WithAlgorithms "bcast=flat", rank 0 has "automatic"`) {
			t.Errorf("rank %d: exit code %d, %q", rank, e.code, e.output)
		}
	}
}

// TestNoTransportInCommon: ranks that can't reach each other say so at the start.
func TestNoTransportInCommon(t *testing.T) {
	amongOthers(t)
	e := job(t, "apart", 2)[0]
	if e.code != 1 || !strings.Contains(e.output, "rank 0 has the transports tcp, rank 1 has shm: they have none in common") {
		t.Errorf("exit code %d, %q", e.code, e.output)
	}
}
