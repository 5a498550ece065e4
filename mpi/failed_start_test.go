package mpi_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"gomx/internal/testlength"
	"gomx/mpi"
)

// TestFailedInitIsHeardOf: a rank whose Init fails before all have met tells the others, which would wait for the whole of MX_MEET_TIMEOUT otherwise.
func TestFailedInitIsHeardOf(t *testing.T) {
	testlength.Long(t)
	amongOthers(t)
	skipWithout(t, "tcp")
	for failing := range 2 {
		says := fmt.Sprintf("rank %d can't go on: ", failing)
		for _, how := range []string{unstarted, misset} {
			for rank, e := range job(t, fmt.Sprint(how, failing), 3, "MX_TRANSPORT=tcp") {
				if e.code != 1 || strings.Contains(e.output, says) == (rank == failing) || !strings.Contains(e.output, "none") {
					t.Errorf("%s%d: rank %d: exit code %d, %s", how, failing, rank, e.code, e.output)
				}
			}
		}
	}
}

// unstarted begins the names of programs whose Init fails at the rank that is named behind it.
const unstarted = "unstarted at rank "

// misset begins the names of programs that call Init, with an option that makes no sense at the rank that is named behind it.
const misset = "misset at rank "

// initOnly is such a program.
func initOnly(opts []mpi.Option) {
	if _, err := mpi.Init(opts...); err != nil {
		fmt.Println(err)
	}
	os.Exit(1)
}
