package mpi_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"gomx/mpi"
)

func init() {
	programs["counted by another"] = countedByAnother
	programs["tells and leaves"] = tellsAndLeaves
	programs["first hand"] = firstHand
	programs["misses who has left"] = func(world *mpi.Comm) error {
		d, err := world.Dup()
		return errors.Join(err, missesWhoHasLeft(world, d.Barrier))
	}
	programs["finalizes beside who leaves"] = func(world *mpi.Comm) error { return missesWhoHasLeft(world, world.Finalize) }
}

// TestFinalizeStaysOutOfOtherCollectives: a rank that knows of a failure leaves, and does not take what others have sent for a collective that
// it has not come to for a wrong count.
func TestFinalizeStaysOutOfOtherCollectives(t *testing.T) {
	unchecked(t) // the ranks are in different calls
	overProcesses(t, "counted by another", [4]int{0, 0, 0, 9}, silent)
}

// countedByAnother has rank 0 send in an Alltoall what rank 1 could receive in Finalize, which it calls when rank 3 has died.
func countedByAnother(world *mpi.Comm) error {
	if err := world.Barrier(); err != nil {
		return err
	}
	switch world.Rank() {
	case 0, 2:
		q, err := mpi.Ialltoall(world, make([]int64, 4*10), make([]int64, 4*10))
		if err := errors.Join(err, mpi.Send(world, []byte{1}, 3, goTag)); err != nil {
			return err
		}
		if err := wantFailure(second(q.Wait()), world, "rank 3 of the world"); err != nil {
			return err
		}
	case 1:
		if err := wantFailure(second(mpi.Recv(world, make([]byte, 1), 3, 0)), world, "rank 3"); err != nil {
			return err
		}
	case 3:
		for _, rank := range []int{0, 2} {
			if _, err := mpi.Recv(world, make([]byte, 1), rank, goTag); err != nil {
				return err
			}
		}
		exit9()
	}
	if err := wantFailure(world.Finalize(), world, "rank 3 of the world"); err != nil {
		return err
	}
	os.Exit(0)
	return nil
}

// TestWhoLeavesSaysWhy: a collective that fails because a rank has left names the rank whose failure that one has left for, though this rank was told of it
// by no other.
func TestWhoLeavesSaysWhy(t *testing.T) {
	unchecked(t) // the ranks are in different calls
	for _, program := range []string{"misses who has left", "finalizes beside who leaves"} {
		t.Run(program, func(t *testing.T) { overProcesses(t, program, [4]int{}, silent) })
	}
}

// missesWhoHasLeft has rank 0 take rank 3 for dead, and leave, of which rank 1 learns in a call that needs rank 0.
func missesWhoHasLeft(world *mpi.Comm, call func() error) error {
	if err := world.Barrier(); err != nil {
		return err
	}
	switch world.Rank() {
	case 0:
		mpi.TakeForDead(world, 3)
		if err := wantFailure(world.Finalize(), world, "rank 3 of the world"); err != nil {
			return err
		}
	case 1:
		err := call()
		if err := wantFailure(err, world, "rank 3 of the world"); err != nil {
			return err
		}
		if e, ok := errors.AsType[*mpi.Error](err); !ok || e.Peer != 3 {
			return fmt.Errorf("rank %d is named: %w", e.Peer, err)
		}
		for _, rank := range []int{2, 3} {
			_ = mpi.Send(world, []byte{1}, rank, goTag) // not if it has finalized
		}
	default: // they live as long as rank 1 needs them
		_, _ = mpi.Recv(world, make([]byte, 1), 1, goTag)
	}
	os.Exit(0)
	return nil
}

// TestWhoLeavesHasToldAll: a rank that finds out that another does not move, and leaves at once, has told those that it has never spoken with.
func TestWhoLeavesHasToldAll(t *testing.T) {
	unchecked(t) // the ranks are in different calls
	overProcesses(t, "tells and leaves", [4]int{}, silent)
}

func tellsAndLeaves(world *mpi.Comm) error {
	switch world.Rank() {
	case 0:
		if err := wantFailure(second(mpi.Recv(world, make([]byte, 1), 1, 1)), world, "rank 1 of the world is gone"); err != nil {
			return err
		}
	case 2:
		mpi.MissInTime(world, 1)
		if err := wantFailure(world.Finalize(), world, "with rank 1: ", "rank 1 of the world is given up"); err != nil {
			return err
		}
	default:
		_, _ = mpi.Recv(world, make([]byte, 1), 0, 1) // until that has left
	}
	os.Exit(0)
	return nil
}

// TestWatcherTellsWhatItKnows: the process that watches another tells all of its failure, also if it has found out in a call of its own.
func TestWatcherTellsWhatItKnows(t *testing.T) {
	unchecked(t) // the ranks are in different calls
	overProcesses(t, "first hand", [4]int{}, silent)
}

func firstHand(world *mpi.Comm) error {
	const dead, over = 2, goTag + 1
	switch world.Rank() {
	case 1:
		mpi.TakeForDead(world, dead)
		for _, rank := range []int{0, 3} {
			if _, err := mpi.Recv(world, make([]byte, 1), rank, over); err != nil {
				return err
			}
		}
	case dead:
		_, _ = mpi.Recv(world, make([]byte, 1), 1, 1) // until that has ended
	default:
		if err := wantFailure(second(mpi.Recv(world, make([]byte, 1), dead, 1)), world, "rank 2 of the world is gone"); err != nil {
			return err
		}
		if err := mpi.Send(world, []byte{1}, 1, over); err != nil {
			return err
		}
		_, _ = mpi.Recv(world, make([]byte, 1), 1, over) // until that has ended: whoever exits without Finalize may take what it has sent along
	}
	os.Exit(0)
	return nil
}
