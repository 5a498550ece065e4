//go:build linux

package mpi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
	"gomx/mpi"
)

func init() { launched["stopped early"] = stoppedEarly }

// stoppedFor is longer than a first connect between two processes may take.
const stoppedFor = 40 * time.Second

// stoppedEarly has rank 0 stop rank 1 at once after it has come, before the processes watch each other.
func stoppedEarly(world *mpi.Comm) error {
	pid := []int{os.Getpid()}
	if world.Rank() == 1 {
		if err := mpi.Send(world, pid, 0, 1); err != nil {
			return err
		}
		if _, err := mpi.Recv(world, pid, 0, 2); err != nil {
			return err
		}
		return mpi.Send(world, pid, 0, 3)
	}
	if _, err := mpi.Recv(world, pid, 1, 1); err != nil {
		return err
	}
	if err := syscall.Kill(pid[0], syscall.SIGSTOP); err != nil {
		return err
	}
	start := time.Now()
	time.AfterFunc(stoppedFor, func() { _ = syscall.Kill(pid[0], syscall.SIGCONT) })
	if err := mpi.Send(world, []int{1}, 1, 2); err != nil {
		return err
	}
	if _, err := mpi.Recv(world, make([]int, 1), 1, 3); err != nil {
		return fmt.Errorf("after %v: %w", time.Since(start), err)
	}
	if since := time.Since(start); since < stoppedFor {
		return fmt.Errorf("the other rank has answered after %v, though it was stopped", since)
	}
	return nil
}

// TestStoppedEarly: a receive waits for a rank that is stopped, also if that happens before the rank has been connected with whoever
// watches it.
func TestStoppedEarly(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	run := filepath.Join(proc.Build(t, "cmd/mx_run"), "mx_run")
	overEach(t, func(t *testing.T, medium string) {
		t.Parallel()
		if lines, status := start(t, run, medium, 2, "stopped early").Ends(); status != 0 {
			t.Errorf("status %d:\n%s", status, strings.Join(lines, "\n"))
		}
	})
}
