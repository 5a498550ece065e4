package mpi_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"gomx/mpi"
)

func init() { programs["aborts beside the stopped"] = abortsBesideTheStopped }

// TestAbortBesideTheStopped: an Abort ends the others also while rank 0 stands still, where they have met.
func TestAbortBesideTheStopped(t *testing.T) {
	overProcesses(t, "aborts beside the stopped", [4]int{42, 42, 42, 42}, func(_ int, output string) error {
		if strings.Contains(output, "a receive beside it") {
			return errors.New(output)
		}
		return nil
	})
}

// abortsBesideTheStopped has rank 1 stop rank 0, and abort the job. Rank 0 goes on when the others have ended, and dies if they do not.
func abortsBesideTheStopped(world *mpi.Comm) error {
	pids := make([]int, world.Size())
	if err := mpi.Allgather(world, []int{os.Getpid()}, pids); err != nil {
		return err
	}
	if world.Rank() == 0 {
		wait := fmt.Sprintf("for i in $(seq 200); do kill -0 %d 2>/dev/null || kill -0 %d 2>/dev/null || kill -0 %d 2>/dev/null || exec kill -CONT %d; sleep 0.05; done; kill -KILL %[4]d",
			pids[1], pids[2], pids[3], pids[0])
		if err := exec.Command("sh", "-c", wait).Start(); err != nil {
			return err
		}
	}
	if err := world.Barrier(); err != nil {
		return err
	}
	if world.Rank() == 1 {
		if err := (&patient{pid: pids[0]}).stop(); err != nil {
			return err
		}
		go func() {
			if err := second(mpi.Recv(world, make([]byte, 1), 2, goTag)); !errors.Is(err, mpi.ErrAborted) {
				fmt.Println("a receive beside it:", err)
			}
		}()
		world.Abort(42, "enough")
	}
	_, err := mpi.Recv(world, make([]byte, 1), 1, goTag)
	return errors.Join(errors.New("the job goes on"), err)
}
