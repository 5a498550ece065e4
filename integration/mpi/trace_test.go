//go:build linux

package mpi_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gomx/integration/internal/proc"
	"gomx/mpi"
)

// slowRank is the one of four that takes its time in each round.
const slowRank = 2

// slowly has all ranks wait for one, in an Allreduce.
func slowly(world *mpi.Comm) error {
	for range 20 {
		if world.Rank() == slowRank {
			time.Sleep(20 * time.Millisecond) // in the place of a computation
		}
		if err := mpi.Allreduce(world, []int{1}, make([]int, 1), mpi.Sum); err != nil {
			return err
		}
	}
	return nil
}

// cutShort has a rank killed in the middle of its work.
func cutShort(world *mpi.Comm) error {
	for range 5 {
		if err := mpi.Allreduce(world, []int{1}, make([]int, 1), mpi.Sum); err != nil {
			return err
		}
	}
	if world.Rank() == slowRank {
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return world.Barrier()
}

// traceReport is what the test looks at of the JSON of mx_trace.
type traceReport struct {
	Size  int `json:"size"`
	Ranks []struct {
		Name   string `json:"name"`
		File   string `json:"file"`
		Closed bool   `json:"closed"`
		Sent   int    `json:"messages_sent"`
	} `json:"ranks"`
	Path struct {
		Holder string `json:"holder"`
	} `json:"critical_path"`
}

// traced runs four ranks of a program, and returns the folder of their traces.
func traced(t *testing.T, run, medium, name string, want int) string {
	t.Helper()
	folder := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := []string{launchedKey + "=" + name, "MX_TRANSPORT=" + medium, "MX_TRACE=" + folder, "MX_TRACE_BYTES=1M"}
	if lines, status := proc.StartProgram(t, proc.Options{Env: env}, run, "-n", "4", self).Ends(); status != want {
		t.Fatalf("status %d, want %d:\n%s", status, want, strings.Join(lines, "\n"))
	}
	return folder
}

// reportOf has mx_trace report, which is to end with a status.
func reportOf(t *testing.T, tool, folder string, want int) (rep traceReport, lines []string) {
	t.Helper()
	lines, status := proc.StartProgram(t, proc.Options{}, tool, "-json", folder).Ends()
	if status != want {
		t.Fatalf("status %d, want %d:\n%s", status, want, strings.Join(lines, "\n"))
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "mx_trace: ") })
	if err := json.Unmarshal([]byte(strings.Join(lines, "\n")), &rep); err != nil {
		t.Fatalf("%v:\n%s", err, strings.Join(lines, "\n"))
	}
	return rep, lines
}

// TestTrace has mx_trace name the rank that holds up a job, and read what a killed rank has left.
func TestTrace(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: mx/trace has tests of its own, and so has mx_trace")
	}
	tools := proc.Build(t, "cmd/mx_run", "cmd/mx_trace")
	run, tool := filepath.Join(tools, "mx_run"), filepath.Join(tools, "mx_trace")
	overEach(t, func(t *testing.T, medium string) {
		t.Run("slow", func(t *testing.T) {
			rep, lines := reportOf(t, tool, traced(t, run, medium, "slow", 0), 0)
			if want := fmt.Sprint("rank ", slowRank); rep.Path.Holder != want || len(rep.Ranks) != 4 || rep.Size != 4 {
				t.Errorf("%q holds up the others, not %q:\n%s", rep.Path.Holder, want, strings.Join(lines, "\n"))
			}
		})
		t.Run("killed", func(t *testing.T) {
			folder := traced(t, run, medium, "cut short", 128+int(syscall.SIGKILL))
			rep, lines := reportOf(t, tool, folder, 0)
			if len(rep.Ranks) != 4 || rep.Ranks[slowRank].Closed || rep.Ranks[slowRank].Sent < 5 {
				t.Fatalf("of a rank that was killed after 5 rounds:\n%s", strings.Join(lines, "\n"))
			}
			if err := os.Remove(rep.Ranks[3].File); err != nil {
				t.Fatal(err)
			}
			if rep, lines = reportOf(t, tool, folder, 2); len(rep.Ranks) != 3 {
				t.Errorf("without the trace of rank 3:\n%s", strings.Join(lines, "\n"))
			}
		})
	})
}
