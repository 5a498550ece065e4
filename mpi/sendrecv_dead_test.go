package mpi_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"gomx/mpi"
)

// TestSendrecvWithTheDead: when the rank of one half of a Sendrecv has failed, the call ends, though the rank of the other half waits for
// the caller.
func TestSendrecvWithTheDead(t *testing.T) {
	skipWithout(t, "shm")
	for _, shmem := range []string{"MX_DISABLE_SHMEM=0", "MX_DISABLE_SHMEM=1"} {
		t.Run(shmem, func(t *testing.T) {
			t.Parallel()
			for rank, e := range job(t, "trades", 3, shmem) {
				if want := map[int]int{1: 7}[rank]; e.code != want {
					t.Errorf("rank %d: exit code %d, %s", rank, e.code, e.output)
				}
			}
		})
	}
}

// trades has rank 0 exchange messages with rank 1, which ends, and with rank 2, which waits until the calls of rank 0 have ended.
func trades(world *mpi.Comm) error {
	if err := world.Barrier(); err != nil {
		return err
	}
	const over = 5 // tag
	var err error
	if world.Rank() != 1 { // the others have left the Barrier
		if err := mpi.Send(world, []byte{1}, 1, goTag); err != nil {
			return err
		}
	}
	switch world.Rank() {
	case 1:
		for _, rank := range []int{0, 2} {
			if _, err := mpi.Recv(world, make([]byte, 1), rank, goTag); err != nil {
				return err
			}
		}
		os.Exit(7)
	case 2:
		_, err = mpi.Recv(world, make([]byte, 1), 0, over)
	case 0:
		err = tradesWithOne(world)
		err = errors.Join(err, mpi.Send(world, []byte{1}, 2, over))
	}
	if err != nil {
		return err
	}
	os.Exit(0) // Finalize would say that rank 1 has not
	return nil
}

func tradesWithOne(world *mpi.Comm) error {
	if _, err := mpi.Recv(world, make([]byte, 1), 1, 1); !errors.Is(err, mpi.ErrProcFailed) { // until then a send may be complete at once
		return fmt.Errorf("a receive from rank 1: %w", err)
	}
	for _, n := range []int{1, 1 << 20} {
		for _, pair := range [][2]int{{1, 2}, {2, 1}} {
			if n == 1 && pair[0] == 2 {
				continue // complete at once
			}
			_, err := mpi.Sendrecv(world, make([]byte, n), pair[0], 1, make([]byte, n), pair[1], 1)
			if e, ok := errors.AsType[*mpi.Error](err); !errors.Is(err, mpi.ErrProcFailed) || !ok || e.Op != "Sendrecv" {
				return fmt.Errorf("%d B to rank %d, from rank %d: %w", n, pair[0], pair[1], err)
			}
		}
	}
	return nil
}
