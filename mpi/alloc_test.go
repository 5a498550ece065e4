package mpi_test

import (
	"fmt"
	"testing"

	"gomx/internal/testlength"
	"gomx/mpi"
)

// TestNoAllocationsPerMessage: messages between two ranks allocate nothing, on either side.
func TestNoAllocationsPerMessage(t *testing.T) {
	testlength.Long(t)
	countsAllocations(t)
	over(t, 2, func(c *mpi.Comm) error {
		for _, size := range []int{1, 500, 30_000} {
			for name, exchange := range exchanges(c, make([]int32, size), make([]int32, size)) {
				var failed error
				step := func() {
					if err := exchange(); err != nil && failed == nil {
						failed = err
					}
				}
				n := testing.AllocsPerRun(300, step) // it counts those of both ranks
				if failed != nil {
					return failed
				}
				if n >= 1 {
					return fmt.Errorf("%s of %d elements: %v allocations", name, size, n)
				}
			}
		}
		return nil
	})
}

// exchanges are ways to exchange a message with the other rank, which does the same.
func exchanges(c *mpi.Comm, out, in []int32) map[string]func() error {
	other := 1 - c.Rank()
	return map[string]func() error{"Sendrecv": func() error {
		_, err := mpi.Sendrecv(c, out, other, 0, in, other, 0)
		return err
	}}
}

// TestNoAllocationsOfRequests likewise, with requests, and from anybody.
func TestNoAllocationsOfRequests(t *testing.T) {
	countsAllocations(t)
	over(t, 2, func(c *mpi.Comm) error {
		other := 1 - c.Rank()
		out, in := make([]int32, 100), make([]int32, 100)
		reqs := make([]mpi.Request, 2)
		var failed error
		step := func() {
			for _, source := range []int{other, mpi.AnySource} {
				var err error
				if reqs[0], err = mpi.Irecv(c, in, source, 0); err != nil {
					failed = err
				}
				if reqs[1], err = mpi.Isend(c, out, other, 0); err != nil {
					failed = err
				}
				if err := mpi.WaitAll(reqs, nil); err != nil {
					failed = err
				}
			}
		}
		n := testing.AllocsPerRun(300, step)
		if n >= 1 && failed == nil {
			failed = fmt.Errorf("%v allocations", n)
		}
		return failed
	})
}

// TestNoAllocationsPerAtomic: nor does what combines single elements with a rank's memory.
func TestNoAllocationsPerAtomic(t *testing.T) {
	testlength.Long(t)
	countsAllocations(t)
	over(t, 2, func(c *mpi.Comm) error {
		win, err := mpi.WinAllocate[int64](c, 4)
		if err != nil {
			return err
		}
		if err := win.LockAll(); err != nil {
			return err
		}
		one, result := []int64{1}, []int64{0}
		var failed error
		note := func(err error) {
			if err != nil && failed == nil {
				failed = err
			}
		}
		n := testing.AllocsPerRun(100, func() {
			for rank := range 2 {
				_, err := win.FetchAndOp(1, rank, 0, mpi.AccSum)
				note(err)
				_, err = win.CompareAndSwap(3, 4, rank, 1)
				note(err)
				note(win.Accumulate(one, rank, 2, mpi.AccMax))
				note(win.GetAccumulate(one, result, rank, 3, mpi.AccBitXor))
				note(win.Flush(rank))
			}
		})
		if n >= 1 && failed == nil {
			failed = fmt.Errorf("%v allocations", n)
		}
		note(win.UnlockAll())
		note(win.Free())
		return failed
	})
}
