package mpi_test

import (
	"bytes"
	"fmt"
	"runtime/pprof"
	"strings"
	"testing"

	"gomx/mpi"
)

// showsLabels prints the labels of the process's goroutines, and which of the library's have none.
func showsLabels(world *mpi.Comm) error {
	if err := world.Barrier(); err != nil {
		return err
	}
	var all bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
		return err
	}
	for _, stack := range strings.Split(all.String(), "\n\n") {
		_, rest, labelled := strings.Cut(stack, "# labels: ")
		switch {
		case labelled:
			line, _, _ := strings.Cut(rest, "\n")
			fmt.Println(line)
		case strings.Contains(stack, "gomx/") && !strings.Contains(stack, "main.main+"):
			fmt.Println("none:", stack)
		}
	}
	return world.Barrier()
}

// TestProcessLabels looks at the goroutines of a rank that is a process: all but the program's own say in profiles that they are the
// library's, and whose.
func TestProcessLabels(t *testing.T) {
	for rank, e := range job(t, "labels", 2, "MX_HANG_TIMEOUT=60s") {
		if e.code != 0 || strings.Contains(e.output, "none:") {
			t.Errorf("rank %d: exit code %d, %s", rank, e.code, e.output)
		}
		of := fmt.Sprintf(`, "rank":"%d"}`, rank)
		for _, labels := range []string{`"gomx":"progress"}`, `"gomx":"accept"}`, `{"gomx":"service"` + of, `{"gomx":"failures"` + of, `{"gomx":"hangs"` + of, `{"gomx":"launch"}`} {
			if !strings.Contains(e.output, labels) {
				t.Errorf("rank %d has no goroutine with %s:\n%s", rank, labels, e.output)
			}
		}
	}
}
