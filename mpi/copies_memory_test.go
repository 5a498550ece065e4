package mpi_test

import (
	"errors"
	"runtime"
	"testing"

	"gomx/mpi"
)

// TestCopiesThatWereReceivedTakeNoMemory: the copy of a buffered message goes when it has been received, also if the rank makes no
// further buffered send.
func TestCopiesThatWereReceivedTakeNoMemory(t *testing.T) {
	for _, shape := range []struct{ messages, bytes int }{{40, 1 << 20}, {10_000, 4 << 10}} {
		err := run(t, 2, func(world *mpi.Comm) error {
			if err := sendCopies(world, mpi.Isend, shape.messages, shape.bytes); err != nil { // what is kept to be used again is there then
				return err
			}
			before := live()
			if err := sendCopies(world, mpi.Ibsend, shape.messages, shape.bytes); err != nil {
				return err
			}
			if kept := live() - before; world.Rank() == 0 && kept > 8<<20 {
				t.Errorf("%d messages of %d bytes: %d bytes are left of them", shape.messages, shape.bytes, kept)
			}
			return world.Barrier()
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// sendCopies has rank 0 send messages before rank 1 receives them.
func sendCopies(world *mpi.Comm, send func(*mpi.Comm, []byte, int, int) (mpi.Request, error), messages, bytes int) error {
	var sends []mpi.Request
	for range messages * (1 - world.Rank()) {
		q, err := send(world, make([]byte, bytes), 1, 1)
		if err != nil {
			return err
		}
		sends = append(sends, q)
	}
	if err := world.Barrier(); err != nil {
		return err
	}
	if world.Rank() == 1 {
		for range messages {
			if _, err := mpi.Recv(world, make([]byte, bytes), 0, 1); err != nil {
				return err
			}
		}
	}
	return errors.Join(world.Barrier(), mpi.WaitAll(sends, nil), world.Barrier())
}

// live returns the bytes of the heap that are in use.
func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
