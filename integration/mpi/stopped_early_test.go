//go:build linux

package mpi_test

import (
	"errors"
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

func init() {
	launched["stopped early"] = stoppedEarly
	launched["stopped barrier"] = stoppedBarrier
	launched["both stopped"] = bothStopped
}

// stoppedFor is longer than a first connect between two processes may take.
const stoppedFor = 40 * time.Second

// stoppedEarly has rank 1 stop at once after it has come, before the processes watch each other, and rank 0 receive from it.
func stoppedEarly(world *mpi.Comm) error {
	if err := world.Barrier(); err != nil {
		return err
	}
	if world.Rank() == 0 {
		_, err := mpi.Recv(world, make([]int, 1), 1, 1)
		return err
	}
	if err := stopsItself(); err != nil {
		return err
	}
	return mpi.Send(world, []int{1}, 0, 1)
}

// TestStoppedEarly: a receive waits for a rank that is stopped, also if that happens before the rank has been connected with whoever
// watches it.
func TestStoppedEarly(t *testing.T) {
	withStopped(t, 2, "stopped early", func(t *testing.T, p proc.Program) {
		pid := stopped(t, p)
		time.Sleep(stoppedFor)
		ends(t, p, pid)
	})
}

// stopsItself says which process it is, and stops until the test lets it go on.
func stopsItself() error {
	fmt.Println("stops", os.Getpid())
	return proc.StopSelf()
}

// stoppedBarrier has rank 1 miss the first barrier, because it is stopped for longer than a first connect may take. The others go on with
// the second one, and rank 1 hears that the first has failed, however much later it comes.
func stoppedBarrier(world *mpi.Comm) error {
	if world.Rank() == 1 {
		if err := stopsItself(); err != nil {
			return err
		}
	}
	if err := world.Barrier(); !errors.Is(err, mpi.ErrProcFailed) {
		return fmt.Errorf("the first barrier: %w", err)
	}
	fmt.Println("failed")
	if err := world.Barrier(); err != nil {
		return fmt.Errorf("the second barrier: %w", err)
	}
	fmt.Println("met")
	return nil
}

// TestStoppedBarrier: a rank that was not connected when a collective failed is told of that when it goes on. That a rank could not be
// reached makes Finalize fail, at all ranks.
func TestStoppedBarrier(t *testing.T) {
	withStopped(t, 3, "stopped barrier", func(t *testing.T, p proc.Program) {
		pid := stopped(t, p)
		p.Says("failed")
		p.Says("failed")
		time.Sleep(15 * time.Second)
		_ = syscall.Kill(pid, syscall.SIGCONT)
		lines, status := p.Ends()
		text := strings.Join(lines, "\n")
		if strings.Count(text, "met") != 3 || !strings.Contains(text, "Finalize") || strings.Contains(text, "rules") || status != 1 {
			t.Errorf("status %d:\n%s", status, text)
		}
	})
}

// bothStopped has rank 0 send to rank 1, which is stopped, until the test stops rank 0 for much longer.
func bothStopped(world *mpi.Comm) error {
	if world.Rank() == 1 {
		if err := stopsItself(); err != nil {
			return err
		}
		_, err := mpi.Recv(world, make([]int, 1), 0, 1)
		return err
	}
	fmt.Println("sends", os.Getpid())
	return mpi.Send(world, []int{1}, 1, 1)
}

// TestBothStopped: the time in which a process stands still itself is no time in which another one does not answer.
func TestBothStopped(t *testing.T) {
	withStopped(t, 2, "both stopped", func(t *testing.T, p proc.Program) {
		var first, second int
		for first == 0 || second == 0 {
			switch line := p.Hear("> "); {
			case says(line, "stops %d", &first), says(line, "sends %d", &second):
			default:
				t.Fatal(line)
			}
		}
		time.Sleep(2 * time.Second) // it tries to connect
		proc.StopThreads(t, second)
		time.Sleep(25 * time.Second)
		_ = syscall.Kill(first, syscall.SIGCONT) // it connects now, and has half a minute for that, too
		time.Sleep(stoppedFor - 25*time.Second)
		ends(t, p, second)
	})
}

// withStopped runs a test with a job, over each transport at the same time.
func withStopped(t *testing.T, ranks int, name string, f func(t *testing.T, p proc.Program)) {
	testlength.Long(t)
	t.Parallel()
	run := filepath.Join(proc.Build(t, "cmd/mx_run"), "mx_run")
	overEach(t, func(t *testing.T, medium string) {
		t.Parallel()
		f(t, start(t, run, medium, ranks, name))
	})
}

// stopped returns the process that stops itself.
func stopped(t *testing.T, p proc.Program) (pid int) {
	t.Helper()
	if line := p.Hear("> "); !says(line, "stops %d", &pid) {
		t.Fatal(line)
	}
	return pid
}

func says(line, format string, pid *int) bool {
	_, err := fmt.Sscanf(line, format, pid)
	return err == nil
}

// ends lets a process go on, and wants the job to end without a failure.
func ends(t *testing.T, p proc.Program, pid int) {
	t.Helper()
	_ = syscall.Kill(pid, syscall.SIGCONT)
	if lines, status := p.Ends(); status != 0 {
		t.Errorf("status %d:\n%s", status, strings.Join(lines, "\n"))
	}
}
