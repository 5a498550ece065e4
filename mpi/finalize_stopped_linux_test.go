package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"gomx/mpi"
)

func init() {
	programs["leaves the stopped"] = func(world *mpi.Comm) error { return leavesTheStopped(world, true) }
	programs["gives Finalize up"] = givesFinalizeUp
	programs["hears in Finalize"] = func(world *mpi.Comm) error { return leavesTheStopped(world, false) }
}

// TestFinalizeLeavesTheStopped: a rank that knows of a failure, or hears of one, while it connects for Finalize with a rank that is stopped, waits for that no more.
func TestFinalizeLeavesTheStopped(t *testing.T) {
	unchecked(t) // the ranks are in different calls
	for _, program := range []string{"leaves the stopped", "hears in Finalize"} {
		t.Run(program, func(t *testing.T) { overProcesses(t, program, [4]int{0, 0, 0, 9}, silent) })
	}
}

// leavesTheStopped has rank 0 finalize, which has never spoken with rank 1. That is stopped, and rank 3 dies.
func leavesTheStopped(world *mpi.Comm, knows bool) error {
	pid, dead := []int{os.Getpid()}, 3
	switch world.Rank() {
	case 0:
		if _, err := mpi.Recv(world, pid, dead, 1); err != nil {
			return err
		}
		p := &patient{pid: pid[0]}
		if err := errors.Join(p.stop(), mpi.Ssend(world, []byte{1}, dead, goTag)); err != nil {
			return err
		}
		if knows {
			if err := wantFailure(second(mpi.Recv(world, make([]byte, 1), dead, 1)), world, "rank 3"); err != nil {
				return err
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), bound/6)
		defer cancel()
		err := world.WithContext(ctx).Finalize()
		if err := errors.Join(p.resume(), wantFailure(err, world, "rank 3 of the world")); err != nil {
			return err
		}
		if errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	case 1:
		if err := mpi.Send(world, pid, dead, 1); err != nil {
			return err
		}
		_, _ = mpi.Recv(world, make([]byte, 1), dead, goTag) // it is stopped in here
	case 2:
		_, _ = mpi.Recv(world, make([]byte, 1), 0, goTag) // until that has left
	case dead:
		if _, err := mpi.Recv(world, pid, 1, 1); err != nil {
			return err
		}
		if err := mpi.Send(world, pid, 0, 1); err != nil {
			return err
		}
		if _, err := mpi.Recv(world, make([]byte, 1), 0, goTag); err != nil {
			return err
		}
		exit9()
	}
	os.Exit(0)
	return nil
}

// TestFinalizeGivenUpBesideTheStopped: a Finalize that is given up while it connects with a rank that is stopped fails there, too, however long
// that lasts, and all call it again.
func TestFinalizeGivenUpBesideTheStopped(t *testing.T) {
	overProcesses(t, "gives Finalize up", [4]int{}, silent)
}

func givesFinalizeUp(world *mpi.Comm) error {
	pid, ctx := []int{os.Getpid()}, context.Background()
	switch world.Rank() {
	case 0:
		if _, err := mpi.Recv(world, pid, 2, 1); err != nil {
			return err
		}
		p := &patient{pid: pid[0]}
		if err := p.stop(); err != nil {
			return err
		}
		short, cancel := context.WithTimeout(ctx, bound/100)
		defer cancel()
		if err := world.WithContext(short).Finalize(); !errors.Is(err, mpi.ErrGivenUp) {
			return errors.Join(p.resume(), fmt.Errorf("error %v, want %w", err, mpi.ErrGivenUp))
		}
		time.Sleep(2 * time.Second) // longer than a rank that leaves would try to tell the others
		if err := p.resume(); err != nil {
			return err
		}
		return mpi.Send(world, []byte{1}, 2, goTag)
	case 1:
		if err := errors.Join(mpi.Send(world, pid, 2, 1), second(mpi.Recv(world, make([]byte, 1), 2, goTag))); err != nil { // it is stopped in here
			return err
		}
	case 2:
		if err := errors.Join(second(mpi.Recv(world, pid, 1, 1)), mpi.Send(world, pid, 0, 1), second(mpi.Recv(world, make([]byte, 1), 0, goTag)),
			mpi.Send(world, []byte{1}, 1, goTag)); err != nil {
			return err
		}
	}
	if err := world.Finalize(); !errors.Is(err, mpi.ErrOther) {
		return fmt.Errorf("error %v, want that of rank 0", err)
	}
	return nil
}
