//go:build linux

package mpi_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
	"gomx/mpi"
)

func init() {
	launched["fails"] = func(world *mpi.Comm) error { return failing(world) }
	launched["exits"] = exiting
	launched["ends late"] = func(world *mpi.Comm) error {
		if world.Rank() == failsFirst { // of whose end mx_run learns when nobody has its output any more
			after := exec.Command("sleep", "0.2")
			after.Stdout, after.Stderr = os.Stdout, os.Stderr
			if err := after.Start(); err != nil {
				return err
			}
		}
		return exiting(world)
	}
	launched["all fail"] = func(world *mpi.Comm) error { return fmt.Errorf("%w at rank %d", errCheese, world.Rank()) }
	launched["all abort"] = func(world *mpi.Comm) error {
		world.Abort(world.Rank()+3, errCheese.Error())
		return nil
	}
	launched["bystander"] = bystander
}

const failsFirst = 1

var errCheese = errors.New("out of cheese")

// failing has a rank fail, and the others miss it.
func failing(world *mpi.Comm) error {
	if world.Rank() == failsFirst {
		return errCheese
	}
	sum := make([]float64, 4)
	return mpi.Allreduce(world, sum, sum, mpi.Sum)
}

// exiting is failing for programs that print their errors themselves.
func exiting(world *mpi.Comm) error {
	if err := failing(world); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(world.Rank() + 2)
	}
	return nil
}

// bystander has two ranks wait for each other, and the rest for one of them.
func bystander(world *mpi.Comm) error {
	_, err := mpi.Recv(world, make([]int32, 4), map[bool]int{true: 1, false: 0}[world.Rank() == 0], 5)
	return err
}

// TestCauseOfAll: a mistake that all ranks make is printed by one of them, and mx_run names that one.
func TestCauseOfAll(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	run := filepath.Join(proc.Build(t, "cmd/mx_run"), "mx_run")
	const ranks = 8
	overEach(t, func(t *testing.T, medium string) {
		t.Parallel()
		t.Run("returned", func(t *testing.T) {
			for range times(5) {
				lines, status := start(t, run, medium, ranks, "all fail").Ends()
				rank := -1
				if status != 1 || len(lines) != 2 || !scan(lines[0], "rank %d of 8: out of cheese", &rank) || lines[0] != fmt.Sprintf("rank %d of 8: out of cheese at rank %d", rank, rank) ||
					!strings.HasPrefix(lines[1], fmt.Sprintf("mx_run: rank %d (process ", rank)) {
					t.Errorf("status %d:\n%s", status, strings.Join(lines, "\n"))
				}
			}
		})
		t.Run("aborted", func(t *testing.T) { // after that one: ranks of both are many for a machine
			for range times(5) {
				lines, status := start(t, run, medium, ranks, "all abort").Ends()
				rank := -1
				if status < 3 || len(lines) != 2 || !scan(lines[0], "mpi: Abort on world, rank %d: aborted: ", &rank) || status != rank+3 ||
					!strings.HasPrefix(lines[1], fmt.Sprintf("mx_run: rank %d (process ", rank)) {
					t.Errorf("status %d:\n%s", status, strings.Join(lines, "\n"))
				}
			}
		})
	})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, variable := range []string{"MX_TRANSPORT", "MX_COLL", "MX_SECRET_FILE"} { // which package mx reads, mpi, and launch
		t.Run(variable, func(t *testing.T) {
			t.Parallel()
			lines, status := proc.StartProgram(t, proc.Options{Env: []string{launchedKey + "=all fail", variable + "=/nonesuch"}}, run, "-n", fmt.Sprint(ranks), self).Ends()
			if status != 1 || len(lines) != 2 || !strings.Contains(lines[0], variable) || !strings.HasPrefix(lines[1], "mx_run: rank 0 (process ") {
				t.Errorf("status %d:\n%s", status, strings.Join(lines, "\n"))
			}
		})
	}
}

// TestFirstCause: of a job that fails, one line says why and one of mx_run which rank that was, however many
// others can't go on.
func TestFirstCause(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	run := filepath.Join(proc.Build(t, "cmd/mx_run"), "mx_run")
	const ranks = 8
	overEach(t, func(t *testing.T, medium string) {
		t.Run("returned", func(t *testing.T) {
			t.Parallel()
			lines, status := start(t, run, medium, ranks, "fails").Ends()
			if status != 1 || len(lines) != 2 || lines[0] != fmt.Sprintf("rank %d of %d: %v", failsFirst, ranks, errCheese) ||
				!strings.HasPrefix(lines[1], fmt.Sprintf("mx_run: rank %d (process", failsFirst)) || strings.Contains(lines[1], errCheese.Error()) {
				t.Errorf("status %d:\n%s", status, strings.Join(lines, "\n"))
			}
		})
		t.Run("printed", func(t *testing.T) {
			t.Parallel()
			for range times(5) {
				lines, status := start(t, run, medium, ranks, "exits").Ends()
				text := strings.Join(lines, "\n")
				if status != failsFirst+2 || !strings.Contains(text, fmt.Sprintf("mx_run: rank %d (process", failsFirst)) || strings.Contains(text, "unreachable") {
					t.Errorf("status %d:\n%s", status, text)
				}
				for _, line := range lines {
					if len(line) > 400 {
						t.Errorf("%d characters: %s", len(line), line)
					}
				}
			}
		})
		t.Run("ends late", func(t *testing.T) {
			t.Parallel()
			lines, status := start(t, run, medium, ranks, "ends late", "-l").Ends()
			text := strings.Join(lines, "\n")
			if status != failsFirst+2 || !strings.Contains(text, fmt.Sprintf("mx_run: rank %d (process", failsFirst)) {
				t.Errorf("status %d:\n%s", status, text)
			}
		})
		t.Run("deadlock", func(t *testing.T) {
			t.Parallel()
			lines, status := start(t, run, medium, 4, "bystander").Ends()
			text := strings.Join(lines, "\n")
			if status != 1 || !strings.Contains(text, "deadlock: rank 0 waits for rank 1") || strings.Contains(text, mpi.ErrProcFailed.Error()) {
				t.Errorf("status %d:\n%s", status, text)
			}
		})
	})
}
