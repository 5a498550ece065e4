//go:build linux

// Package top has mx_top look at real jobs: what it says of hangs that were made on purpose, its page in a browser, what Prometheus
// makes of a job's metrics, what the trace viewer of Chromium makes of a message trace,
// and whether the pages of tools show what the tools print.
package top

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gomx/integration/internal/proc"
	"gomx/mpi"
)

// roleKey names the program that the test binary is to be, as a rank of a job.
const roleKey = "TOP_TEST_ROLE"

// programs are what the ranks of jobs do.
var programs = map[string]func(world *mpi.Comm) error{}

func TestMain(m *testing.M) {
	if name := os.Getenv(roleKey); name != "" && os.Getenv("PMI_RANK") != "" {
		mpi.Main(programs[name])
		os.Exit(0)
	}
	proc.Main(m, map[string]proc.Role{proc.ProgramRole: proc.RunProgram})
}

// scene is a job that runs, and the tools to look at it.
type scene struct {
	tools string // the folder of the programs
	pids  []int  // by rank
	job   proc.Program
}

// long skips what takes a browser, another program, or several tools.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: this takes a browser, Prometheus, or several tools")
	}
}

// build builds the programs.
func build(t *testing.T) (tools string) {
	t.Helper()
	return proc.Build(t, "cmd/mx_run", "cmd/mx_top")
}

// play starts a job whose ranks say "process PID is rank N" when they are about to stand still. It ends with the test.
func play(t *testing.T, tools, name string, ranks int, env ...string) *scene {
	t.Helper()
	s := &scene{tools: tools, pids: make([]int, ranks)}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env = append([]string{roleKey + "=" + name, "MX_HANG_TIMEOUT=0", "MX_TRANSPORT=shm"}, env...)
	p := proc.StartProgram(t, proc.Options{Env: env}, filepath.Join(s.tools, "mx_run"), "-n", fmt.Sprint(ranks), self)
	s.job = p
	for range ranks {
		line, rank, pid := p.Hear("> "), 0, 0
		if n, err := fmt.Sscanf(line, "process %d is rank %d", &pid, &rank); n != 2 {
			t.Fatalf("the job says %q: %v", line, err)
		}
		s.pids[rank] = pid
	}
	return s
}

// these are the processes of the job, for mx_top: others may run on this machine.
func (s *scene) these() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(s.pids), " ", ","), "[]")
}

// introduce says which rank the process is.
func introduce(world *mpi.Comm) { fmt.Printf("process %d is rank %d\n", os.Getpid(), world.Rank()) }

// lacks returns what a text does not say.
func lacks(text string, wants ...string) (missing []string) {
	for _, want := range wants {
		if !strings.Contains(text, want) {
			missing = append(missing, want)
		}
	}
	return missing
}

func init() {
	// talk sends to neighbours until it is ended, and one pair more than others.
	programs["talk"] = func(world *mpi.Comm) error {
		if err := world.Barrier(); err != nil {
			return err
		}
		introduce(world)
		n, me := world.Size(), world.Rank()
		out, in := make([]byte, 512), make([]byte, 512)
		for turn := 0; ; turn++ {
			for _, d := range []int{1, 4, 8} {
				if _, err := mpi.Sendrecv(world, out, (me+d)%n, d, in, (me+n-d)%n, d); err != nil {
					return err
				}
			}
			time.Sleep(50 * time.Millisecond) // as much as one can look at
		}
	}
	// star has all but one rank in a receive from that one.
	programs["star"] = func(world *mpi.Comm) error {
		if world.Rank() == 5 {
			introduce(world)
			select {}
		}
		introduce(world)
		_, err := mpi.Recv(world, make([]int32, 4), 5, 7)
		return err
	}
}

func itoa(n int) string { return strconv.Itoa(n) }
