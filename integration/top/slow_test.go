//go:build linux

package top

import (
	"strings"
	"testing"
	"time"

	"gomx/integration/internal/proc"
	"gomx/mpi"
)

// slowRank is the slow rank of jobs that have one, and the root of the broadcasts.
const slowRank = 2

// steps are what ranks do again and again.
var steps = map[string]func(world *mpi.Comm) error{
	"allreduce": func(world *mpi.Comm) error { return mpi.Allreduce(world, []int{1}, make([]int, 1), mpi.Sum) },
	"barrier":   func(world *mpi.Comm) error { return world.Barrier() },
	"bcast":     func(world *mpi.Comm) error { return mpi.Bcast(world, make([]int, 1), slowRank) },
	"ring": func(world *mpi.Comm) error {
		n, me := world.Size(), world.Rank()
		if err := mpi.Send(world, make([]byte, 64), (me+1)%n, 1); err != nil {
			return err
		}
		_, err := mpi.Recv(world, make([]byte, 64), (me+n-1)%n, 1)
		return err
	},
}

func init() {
	for name, step := range steps {
		// In slow jobs one rank sleeps before each step, in even ones all do, and in quick ones nobody.
		programs["slow "+name] = func(world *mpi.Comm) error { return slowly(world, world.Rank() == slowRank, step) }
		programs["even "+name] = func(world *mpi.Comm) error { return slowly(world, true, step) }
		programs["quick "+name] = func(world *mpi.Comm) error { return slowly(world, false, step) }
	}
}

func slowly(world *mpi.Comm, slow bool, step func(*mpi.Comm) error) error {
	for range 40 {
		if slow {
			time.Sleep(2 * time.Millisecond)
		}
		if err := step(world); err != nil {
			return err
		}
	}
	return nil
}

// TestSlowRank has mx_trace name the slow rank of a job, and nobody in one whose ranks do the same. A busy machine slows other ranks down as well; so each job is run
// until the report is as it should be, a few times.
func TestSlowRank(t *testing.T) {
	long(t)
	tools := proc.Build(t, "cmd/mx_run", "cmd/mx_trace")
	const nobody = "\nno rank alone holds up the others\n"
	for name := range steps {
		for kind, want := range map[string]string{"slow ": "\nrank 2 holds up the others\n", "even ": nobody, "quick ": nobody} {
			t.Run(kind+name, func(t *testing.T) {
				report := ""
				for range 5 {
					if report = prints(t, tools, "mx_trace", traced(t, tools, kind+name)); strings.Contains(report, want) {
						return
					}
				}
				t.Errorf("%q is not in any of five reports, of which the last is\n%s", want, report)
			})
		}
	}
}
