//go:build linux

package top

import (
	"context"
	"fmt"
	"os/exec"
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
	programs["crossed"] = func(world *mpi.Comm) error {
		introduce(world)
		_, err := mpi.Recv(world, make([]int32, 4), 1-world.Rank(), 5)
		return err
	}
	programs["missing"] = func(world *mpi.Comm) error {
		introduce(world)
		if world.Rank() == 2 {
			select {} // it computes
		}
		_, err := mpi.Recv(world, make([]int32, 4), 2, 7)
		return err
	}
	programs["no credit"] = func(world *mpi.Comm) error {
		introduce(world)
		if world.Rank() == 1 {
			select {} // it never receives
		}
		for {
			if err := mpi.Send(world, make([]byte, 4096), 1, 3); err != nil {
				return err
			}
		}
	}
	// A message of 1 MiB stays with its sender until it is received.
	programs["large sends"] = func(world *mpi.Comm) error {
		introduce(world)
		return mpi.Send(world, make([]byte, 1<<20), (world.Rank()+1)%world.Size(), 6)
	}
	programs["no room"] = func(world *mpi.Comm) error {
		introduce(world)
		if world.Rank() == 1 {
			_, err := mpi.Recv(world, make([]byte, 8), 0, 99)
			return err
		}
		for {
			if err := mpi.Send(world, make([]byte, 4096), 1, 3); err != nil {
				return err
			}
		}
	}
	programs["stopped"] = func(world *mpi.Comm) error {
		if err := world.Barrier(); err != nil { // so that the two are connected
			return err
		}
		introduce(world)
		if world.Rank() == 1 {
			select {} // until it is stopped
		}
		_, err := mpi.Recv(world, make([]byte, 1), 1, 9)
		return err
	}
}

// hangs are made on purpose. Each is named by mx_top, the hang report and the log.
var hangs = []hang{
	{"crossed", 2, -1, "deadlock: rank 0 waits for rank 1 in Recv, tag 5, world; rank 1 waits for rank 0 in Recv, tag 5, world", true,
		[]string{"ranks 0-1: Recv, tag 5, world"}, nil},
	{"missing", 3, -1, "probable cause: rank 2 (not blocked in an MPI call): rank 0 waits for it in Recv, tag 7, world; 2 ranks wait for it in all", false,
		[]string{"ranks 0-1: Recv, tag 7, world", "rank 2: not blocked in an MPI call"}, nil},
	{"no credit", 2, -1, "probable cause: rank 1 (not blocked in an MPI call): rank 0 waits for it in Send, tag 3, world; 1 rank wait", false,
		[]string{"Send to rank 1, tag 3, world, 4096 B (waits for the peer to match and fetch it)"},
		[]string{" 1 send ", "waits for the peer to match and fetch it", "messages that no receive has taken: "}},
	{"large sends", 2, -1, "deadlock: rank 0 waits for rank 1 in Send, tag 6, world; rank 1 waits for rank 0 in Send, tag 6, world", true,
		[]string{"ranks 0-1: Send, tag 6, world", "Send to rank 1, tag 6, world, 1048576 B (waits for the peer to match and fetch it)"},
		[]string{" 1 send ", "waits for the peer to match and fetch it  waits for it, too: a cycle\n"}},
	{"large sends", 3, -1, "deadlock: rank 0 waits for rank 1 in Send, tag 6, world; rank 1 waits for rank 2 in Send, tag 6, world; rank 2 waits for rank 0 in", true,
		[]string{"ranks 0-2: Send, tag 6, world"},
		[]string{" 1 send ", "waits for the peer to match and fetch it  waits for it through others: a cycle\n"}},
	{"no room", 2, -1, "deadlock: rank 0 waits for rank 1 in Send, tag 3, world; rank 1 waits for rank 0 in Recv, tag 99, world", true,
		[]string{"rank 0: Send, tag 3, world", "rank 1: Recv, tag 99, world"}, []string{" 1 send ", " 1 recv ", "waits for it, too: a cycle\n"}},
	{"stopped", 2, 1, "probable cause: rank 1 (does not answer): rank 0 waits for it in Recv, tag 9, world", false,
		[]string{"rank 1: does not answer"}, []string{": it does not answer: it is stopped, or very busy"}},
}

type hang struct {
	name    string // of the program
	ranks   int
	stop    int    // the rank to stop, or -1
	reason  string // in all three
	certain bool
	report  []string // in the hang report besides
	top     []string // in what mx_top prints besides
}

func (h *hang) title() string { return fmt.Sprintf("%s of %d ranks", h.name, h.ranks) }

// stopOne stops the rank that is to be stopped.
func (h *hang) stopOne(t *testing.T, s *scene) {
	t.Helper()
	if h.stop >= 0 {
		proc.StopThreads(t, s.pids[h.stop])
	}
}

// TestHangReports has the hang report and the log name hangs.
func TestHangReports(t *testing.T) {
	testlength.Long(t)
	tools := build(t)
	for _, h := range hangs {
		t.Run(h.title(), func(t *testing.T) {
			t.Parallel()
			s := play(t, tools, h.name, h.ranks, "MX_HANG_TIMEOUT=500ms", "MX_LOG=error")
			h.stopOne(t, s)
			log := []string{" level=ERROR msg=hang ", fmt.Sprintf(" deadlock=%v ", h.certain), ` reason="` + h.reason}
			report := append([]string{" has waited for longer than 500ms", h.reason}, h.report...)
			said, logged := "", "nothing"
			for len(lacks(said, report...)) > 0 || len(lacks(logged, log...)) > 0 { // there may be one before all ranks are in their calls, and each state has one
				line := s.job.Hear("")
				if strings.Contains(line, "status ") {
					t.Fatalf("%q is not in\n%s\nor %q not in\n%s", lacks(said, report...), said, lacks(logged, log...), logged)
				}
				if strings.Contains(line, " msg=hang ") {
					logged = line
				} else {
					said += strings.TrimPrefix(line, "> ") + "\n"
				}
			}
		})
	}
}

// TestHangs has mx_top name hangs that were made on purpose. It is asked until it does: a rank may not have come to its call yet.
func TestHangs(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	tools := build(t)
	for _, c := range hangs {
		t.Run(c.title(), func(t *testing.T) {
			if testing.Short() && c.ranks > 2 {
				t.Skip("-short: the cases with two ranks are enough")
			}
			s := play(t, tools, c.name, c.ranks)
			c.stopOne(t, s)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			for last := ""; ; {
				text, status := s.top(ctx, t, "-once", "-w", "100ms", "-p", s.these())
				missing := lacks(text, append([]string{c.reason}, c.top...)...)
				if len(missing) == 0 {
					if want := map[bool]int{true: 1}[c.stop >= 0]; status != want {
						t.Errorf("exit status %d, want %d", status, want)
					}
					return
				}
				if ctx.Err() != nil {
					t.Fatalf("%q is not in\n%s\nand the last:\n%s", missing, last, text)
				}
				last = text
			}
		})
	}
}

// top runs mx_top, and returns what it prints and its exit status.
func (s *scene) top(ctx context.Context, t *testing.T, args ...string) (text string, status int) {
	t.Helper()
	cmd := exec.CommandContext(ctx, filepath.Join(s.tools, "mx_top"), args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) } // it says where it stands
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return strings.ToValidUTF8(string(out), "?"), cmd.ProcessState.ExitCode()
}
