//go:build linux

package mpi_test

import (
	"fmt"
	"os"
	"testing"

	"gomx/integration/internal/proc"
	"gomx/internal/freeport"
	"gomx/mpi"
	"gomx/mx"
)

// launchedKey names what the test binary is as a rank of mx_run.
const launchedKey = "GOMX_TEST_LAUNCHED"

func TestMain(m *testing.M) {
	if name := os.Getenv(launchedKey); name != "" && os.Getenv("PMI_RANK") != "" {
		mpi.Main(launched[name])
		os.Exit(0)
	}
	proc.Main(m, map[string]proc.Role{
		"rank": rank, "hasty": hasty, "patient": patient, "hurried": hurried, "player": player, "queuer": queuer,
		proc.ProgramRole: proc.RunProgram,
	})
}

// Tests that say t.Parallel wait most of the time. Those that use the processors all the time, or look at who is slow,
// run alone.

// media are the transports between processes.
var media = []string{"shm", "tcp"}

// overEach runs a test over each transport that this machine has.
func overEach(t *testing.T, f func(t *testing.T, medium string)) {
	for _, medium := range media {
		t.Run(medium, func(t *testing.T) {
			for _, info := range mx.Transports() {
				if info.Name == medium && !info.Available {
					t.Skipf("transport %s: %s", medium, info.Reason)
				}
			}
			f(t, medium)
		})
	}
}

// byHand returns what the environment of each rank has to say without a launcher.
func byHand(t *testing.T, size int, medium string) func(rank int) proc.Options {
	t.Helper()
	root := freeport.Address(t)
	return func(rank int) proc.Options {
		return proc.Options{Env: []string{
			"MX_ROOT=" + root, fmt.Sprint("MX_RANK=", rank), fmt.Sprint("MX_SIZE=", size), "MX_TRANSPORT=" + medium,
		}}
	}
}
