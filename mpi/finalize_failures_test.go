package mpi_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"gomx/mpi"
)

func init() {
	programs["matched by another"] = matchedByAnother
	programs["undelivered"] = undelivered
}

// TestFinalizeKnowsOfAFailure: a rank that knows of a failure is told by its Finalize, whatever the others are in: what they have sent for a
// collective that this rank has not come to may look as if all had come to Finalize.
func TestFinalizeKnowsOfAFailure(t *testing.T) {
	unchecked(t) // the ranks are in different calls
	overProcesses(t, "matched by another", [4]int{0, 0, 0, 9}, silent)
}

// matchedByAnother has rank 0 send in a Barrier what rank 1 receives in Finalize, which it calls when rank 3 has died.
func matchedByAnother(world *mpi.Comm) error {
	if err := errors.Join(world.SetAlgorithm("barrier", "dissemination"), world.Barrier()); err != nil {
		return err
	}
	switch world.Rank() {
	case 3: // dies when the others have left the Barrier, and rank 0 is in the next one
		for rank := range 3 {
			if _, err := mpi.Recv(world, make([]byte, 1), rank, goTag); err != nil {
				return err
			}
		}
		exit9()
	case 0:
		result := make(chan error, 1)
		go func() { result <- world.Barrier() }()
		if err := until(func() error { return receiving(world) }); err != nil {
			return err
		}
		if err := mpi.Send(world, []byte{1}, 3, goTag); err != nil {
			return err
		}
		if err := wantFailure(<-result, world, "rank 3 of the world"); err != nil {
			return err
		}
	default:
		if err := mpi.Send(world, []byte{1}, 3, goTag); err != nil {
			return err
		}
		if err := wantFailure(second(mpi.Recv(world, make([]byte, 1), 3, 0)), world, "rank 3"); err != nil {
			return err
		}
	}
	if err := wantFailure(world.Finalize(), world, "rank 3 of the world"); err != nil {
		return err
	}
	os.Exit(0)
	return nil
}

// receiving returns an error until the rank waits for a message.
func receiving(c *mpi.Comm) error {
	for _, p := range mpi.Pending(c) {
		if strings.HasPrefix(p, "recv") {
			return nil
		}
	}
	return fmt.Errorf("no receive is pending")
}

// TestFinalizeNamesTheFirstFailure: it is that which has failed first, also beside a buffered message that its receiver never took before it
// left because of that.
func TestFinalizeNamesTheFirstFailure(t *testing.T) {
	unchecked(t) // the ranks are in different calls
	overProcesses(t, "undelivered", [4]int{0, 0, 9, 0}, silent)
}

func undelivered(world *mpi.Comm) error {
	self, dead := world.Rank(), 2
	switch self {
	case 0:
		if err := errors.Join(mpi.Bsend(world, make([]byte, 1<<20), 1, 5), mpi.Send(world, []byte{1}, dead, goTag)); err != nil {
			return err
		}
	case dead:
		if _, err := mpi.Recv(world, make([]byte, 1), 0, goTag); err != nil {
			return err
		}
		exit9()
	}
	if err := wantFailure(second(mpi.Recv(world, make([]byte, 1), dead, 0)), world, "rank 2"); err != nil {
		return err
	}
	if self == 0 { // Finalize of rank 1 is over
		if err := wantFailure(second(mpi.Recv(world, make([]byte, 1), 1, 0)), world, "rank 1"); err != nil {
			return err
		}
	}
	err := world.Finalize()
	if err := wantFailure(err, world, "rank 2 of the world"); err != nil {
		return err
	}
	if e, ok := errors.AsType[*mpi.Error](err); !ok || e.Peer != dead {
		return fmt.Errorf("Finalize names rank %d: %w", e.Peer, err)
	}
	os.Exit(0)
	return nil
}
