//go:build linux

package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
	"gomx/mpi"
	"gomx/mpi/launch"
)

// launched are programs that mx_run starts.
var launched = map[string]func(world *mpi.Comm) error{
	"kill":      func(world *mpi.Comm) error { return underRun(world, "kill") },
	"leave":     func(world *mpi.Comm) error { return underRun(world, "leave") },
	"crossed":   crossed,
	"slow":      slowly,
	"cut short": cutShort,
	"freeze 0":  func(world *mpi.Comm) error { return frozen(world, 0) },
	"freeze 1":  func(world *mpi.Comm) error { return frozen(world, 1) },
}

// times is how often a test repeats what ends differently now and then: once with -short.
func times(n int) int {
	if testing.Short() {
		return 1
	}
	return n
}

// TestLaunched has ranks of mx_run die, whose job then fails and leaves nobody behind.
func TestLaunched(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	run := filepath.Join(proc.Build(t, "cmd/mx_run"), "mx_run")
	overEach(t, func(t *testing.T, medium string) {
		for _, c := range []struct {
			name   string
			status int
			says   string
		}{
			{"kill", 128 + int(syscall.SIGKILL), "mx_run: rank 1 (process"},
			{"leave", 1, "ended without Finalize"},
			{"crossed", 1, "deadlock: rank 0 waits for rank 1"},
		} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				lines, status := start(t, run, medium, len(between)+1, c.name).Ends()
				text := strings.Join(lines, "\n")
				if status != c.status || !strings.Contains(text, c.says) {
					t.Errorf("status %d, want %d and %q:\n%s", status, c.status, c.says, text)
				}
				for _, pid := range pids(lines) {
					if !isGone(pid) {
						t.Errorf("process %d has not ended:\n%s", pid, text)
					}
				}
			})
		}
		if testing.Short() {
			return
		}
		for _, victim := range []int{1, 0} {
			t.Run(fmt.Sprint("freeze ", victim), func(t *testing.T) {
				t.Parallel()
				frozenUnderRun(t, run, medium, victim)
			})
		}
	})
}

func start(t *testing.T, run, medium string, ranks int, name string, flags ...string) proc.Program {
	t.Helper()
	env := []string{launchedKey + "=" + name, "MX_TRANSPORT=" + medium, "MX_HANG_TIMEOUT=0"}
	switch name { // the ranks of others say nothing of how long they wait, however late a busy machine ends them
	case "crossed", "bystander", "freeze 0", "freeze 1":
		env[2] = "MX_HANG_TIMEOUT=300ms"
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return proc.StartProgram(t, proc.Options{Env: env}, slices.Concat([]string{run}, flags, []string{"-n", fmt.Sprint(ranks), self})...)
}

// pids returns the processes that have said who they are.
func pids(lines []string) (all []int) {
	for _, line := range lines {
		if pid := 0; scan(line, "process %d waits", &pid) || scan(line, "process %d stops", &pid) {
			all = append(all, pid)
		}
	}
	return all
}

func scan(line, format string, to *int) bool {
	n, _ := fmt.Sscanf(line, format, to)
	return n == 1
}

// underRun is a rank that waits for rank 1, which dies.
func underRun(world *mpi.Comm, how string) error {
	fmt.Printf("process %d waits\n", os.Getpid())
	s := &scene{world: world, victim: 1}
	if err := s.meet(); err != nil {
		return err
	}
	if world.Rank() == s.victim {
		return s.die(nil, how, between)
	}
	mine := between[place(world.Rank(), s.victim)]
	if mine.late {
		mine = between[0]
	}
	if err := wantFailed(mine.call(s), s.victim); err != nil {
		return err
	}
	fmt.Printf("process %d knows the failed rank\n", os.Getpid())
	_, err := mpi.Recv(world, make([]byte, 1), world.Rank(), 9) // mx_run ends it
	return err
}

// crossed has all ranks wait for one another.
func crossed(world *mpi.Comm) error {
	fmt.Printf("process %d waits\n", os.Getpid())
	_, err := mpi.Recv(world, make([]int32, 4), world.Rank()^1, 5)
	return err
}

// frozen has a rank stand still until somebody wakes it up. The others wait for it meanwhile.
func frozen(world *mpi.Comm, victim int) error {
	// Whoever can't be reached is passed over; who can and is silent is the harder case.
	if _, err := world.HangReport(context.Background()); err != nil {
		return err
	}
	if err := world.Barrier(); err != nil {
		return err
	}
	if world.Rank() != victim {
		buf := make([]int, 1)
		if _, err := mpi.Recv(world, buf, victim, 6); err != nil || buf[0] != 77 {
			return fmt.Errorf("%d, %w", buf[0], err)
		}
		return world.Barrier()
	}
	fmt.Printf("process %d stops\n", os.Getpid())
	if err := proc.StopSelf(); err != nil {
		return err
	}
	for other := range world.Size() {
		if other == victim {
			continue
		}
		if err := mpi.Send(world, []int{77}, other, 6); err != nil {
			return err
		}
	}
	return world.Barrier()
}

// frozenUnderRun wakes the rank up when the others have said that it does not answer.
func frozenUnderRun(t *testing.T, run, medium string, victim int) {
	p := start(t, run, medium, 3, fmt.Sprint("freeze ", victim))
	pid, silent := 0, fmt.Sprintf("%d  does not answer", victim)
	for line := p.Hear("> "); !scan(line, "process %d stops", &pid); line = p.Hear("> ") {
		t.Log(line)
	}
	for line := p.Hear("> "); !strings.Contains(line, silent); line = p.Hear("> ") {
		t.Log(line)
	}
	_ = syscall.Kill(pid, syscall.SIGCONT)
	lines, status := p.Ends()
	if status != 0 || !isGone(pid) {
		t.Errorf("status %d, process %d gone: %t\n%s", status, pid, isGone(pid), strings.Join(lines, "\n"))
	}
}

// hasty is a rank that gives up before it has told anybody where it is.
func hasty(c *proc.Child) {
	j, err := launch.Find()
	if err != nil {
		c.Fail(err)
	}
	j.Abort(42, "no use")
	os.Exit(42)
}

// patient is a rank that is still in Init then.
func patient(c *proc.Child) {
	mpi.Main(func(*mpi.Comm) error { return errors.New("there is a world") })
}

// TestAbortDuringInit: all ranks end with the code of the one that has aborted the job.
func TestAbortDuringInit(t *testing.T) {
	t.Parallel()
	options := byHand(t, 2, "tcp")
	waits := proc.StartWith(t, options(0), "patient")
	leaves := proc.StartWith(t, options(1), "hasty")
	for rank, p := range []*proc.Process{waits, leaves} {
		untilState(t, p, "Z")
		if exit, ok := errors.AsType[*exec.ExitError](p.Wait()); !ok || exit.ExitCode() != 42 {
			t.Errorf("rank %d: %v, want exit code 42", rank, exit)
		}
	}
}
