package main

import (
	"slices"
	"strings"
	"testing"

	"gomx/examples/internal/jobs"
	"gomx/internal/testlength"
)

func Example() {
	main()
	// Output: rank 0 of 1: hello from rank 0
}

func TestThreeProcesses(t *testing.T) {
	testlength.Long(t)
	lines := strings.Split(strings.TrimSpace(jobs.Launched(t, 3)), "\n")
	slices.Sort(lines)
	want := []string{"rank 0 of 3: hello from rank 2", "rank 1 of 3: hello from rank 0", "rank 2 of 3: hello from rank 1"}
	if !slices.Equal(lines, want) {
		t.Errorf("three ranks print %q", lines)
	}
}
