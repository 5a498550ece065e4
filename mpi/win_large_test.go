package mpi_test

import (
	"errors"
	"fmt"
	"testing"

	"gomx/mpi"
)

// TestLargeElementsBehindPuts: what the service does with large elements comes behind the puts that were flushed before, also as the race
// detector sees it.
func TestLargeElementsBehindPuts(t *testing.T) {
	skipWithout(t, "shm")
	for rank, e := range job(t, "puts large", 2) {
		if e.code != 0 {
			t.Errorf("rank %d: exit code %d, %s", rank, e.code, e.output)
		}
	}
}

func putsLarge(world *mpi.Comm) error {
	type element [1009]byte
	w, err := mpi.WinCreate(world, make([]element, 1))
	if err != nil {
		return err
	}
	err = w.LockAll()
	for i := byte(1); i < 100 && world.Rank() == 0 && err == nil; i++ {
		v := element{0: i, 1008: i}
		var got element
		if err = errors.Join(w.Put([]element{v}, 1, 0), w.Flush(1)); err == nil {
			got, err = w.FetchAndOp(v, 1, 0, mpi.AccNone)
		}
		if err == nil && got != v {
			err = fmt.Errorf("the element has %d, want %d", got[0], i)
		}
		if err == nil {
			_, err = w.CompareAndSwap(element{}, v, 1, 0)
		}
	}
	return errors.Join(err, w.UnlockAll(), w.Free())
}
