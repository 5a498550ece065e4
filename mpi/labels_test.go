package mpi_test

import (
	"bytes"
	"fmt"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"gomx/mpi"
)

// showsLabels prints the labels of the process's goroutines, and which of the library's have none. A goroutine labels itself when
// it first runs: those that have not run yet get some time.
func showsLabels(world *mpi.Comm) error {
	if err := world.Barrier(); err != nil {
		return err
	}
	labelled, bare, err := goroutines()
	for deadline := time.Now().Add(20 * time.Second); err == nil && len(bare) > 0 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
		labelled, bare, err = goroutines()
	}
	if err != nil {
		return err
	}
	for _, line := range append(labelled, bare...) {
		fmt.Println(line)
	}
	return world.Barrier()
}

// goroutines returns the labels that goroutines have, and the stacks of the library's goroutines that have none.
func goroutines() (labelled, bare []string, err error) {
	var all bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
		return nil, nil, err
	}
	for _, stack := range strings.Split(all.String(), "\n\n") {
		_, rest, has := strings.Cut(stack, "# labels: ")
		switch {
		case has:
			line, _, _ := strings.Cut(rest, "\n")
			labelled = append(labelled, line)
		case strings.Contains(stack, "gomx/") && !strings.Contains(stack, "main.main+"):
			bare = append(bare, "none: "+stack)
		}
	}
	return labelled, bare, nil
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
