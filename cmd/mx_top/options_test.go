package main

import (
	"slices"
	"testing"
)

// TestProcessesAreNamedOnce: one that stands twice in the list is read and counted once.
func TestProcessesAreNamedOnce(t *testing.T) {
	o, err := parseOptions([]string{"-p", "5,6,5", "-p", "6,7"})
	if err != nil || !slices.Equal(o.pids, []int{5, 6, 7}) {
		t.Errorf("%v, %v", o, err)
	}
}
