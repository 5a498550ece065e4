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
	testlength.Long(t)
	t.Parallel()
	run := filepath.Join(proc.Build(t, "cmd/mx_run"), "mx_run")
	overEach(t, func(t *testing.T, medium string) {
		t.Parallel()
		p := start(t, run, medium, 3, "stopped barrier")
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

// bothStopped has rank 0 send to rank 1, which is stopped, and is then stopped itself for much longer.
func bothStopped(world *mpi.Comm) error {
	if world.Rank() == 1 {
		if err := stopsItself(); err != nil {
			return err
		}
		_, err := mpi.Recv(world, make([]int, 1), 0, 1)
		return err
	}
	time.AfterFunc(2*time.Second, func() { _ = stopsItself() })
	return mpi.Send(world, []int{1}, 1, 1)
}

// TestBothStopped: the time in which a process stands still itself is no time in which another one does not answer.
func TestBothStopped(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	run := filepath.Join(proc.Build(t, "cmd/mx_run"), "mx_run")
	overEach(t, func(t *testing.T, medium string) {
		t.Parallel()
		p := start(t, run, medium, 2, "both stopped")
		first := stopped(t, p)
		second := stopped(t, p)
		proc.StopThreads(t, second)
		time.Sleep(25 * time.Second)
		_ = syscall.Kill(first, syscall.SIGCONT) // it connects now, and has half a minute for that, too
		time.Sleep(stoppedFor - 25*time.Second)
		ends(t, p, second)
	})
}

// stopped returns the process that stops itself.
func stopped(t *testing.T, p proc.Program) (pid int) {
	t.Helper()
	if _, err := fmt.Sscanf(p.Hear("> "), "stops %d", &pid); err != nil {
		t.Fatal(err)
	}
	return pid
}

// ends lets a process go on, and wants the job to end without a failure.
func ends(t *testing.T, p proc.Program, pid int) {
	t.Helper()
	_ = syscall.Kill(pid, syscall.SIGCONT)
	if lines, status := p.Ends(); status != 0 {
		t.Errorf("status %d:\n%s", status, strings.Join(lines, "\n"))
	}
}
