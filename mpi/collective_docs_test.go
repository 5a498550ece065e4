package mpi_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"gomx/mpi"
)

// TestAlgorithmsAreDocumented compares the table of docs/collectives.md with what there is.
func TestAlgorithmsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/collectives.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		if len(cells) != 2 {
			continue
		}
		for kind := range strings.SplitSeq(cells[0], ", ") {
			documented[kind] = strings.Split(cells[1], ", ")
		}
	}
	kinds, algorithms := mpi.Algorithms()
	for i, kind := range kinds {
		if !slices.Equal(documented[kind], algorithms[i]) {
			t.Errorf("docs/collectives.md says of %s %v, there are %v", kind, documented[kind], algorithms[i])
		}
	}
}
