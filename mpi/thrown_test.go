package mpi_test

import (
	"errors"
	"fmt"
	"testing"

	"gomx/mpi"
)

// TestOperationOfABlockingCallPanics: a caller that recovers from the panic of an operation can go on, and the collective has failed at
// the ranks that need its result, in each call that combines.
func TestOperationOfABlockingCallPanics(t *testing.T) {
	const ranks, n = 3, 60_000 // elements of a long message too
	for name, call := range map[string]func(c *mpi.Comm, send, recv []int, op mpi.Op[int]) error{
		"Reduce":        func(c *mpi.Comm, send, recv []int, op mpi.Op[int]) error { return mpi.Reduce(c, send, recv, op, 0) },
		"Allreduce":     mpi.Allreduce[int],
		"Scan":          mpi.Scan[int],
		"Exscan":        mpi.Exscan[int],
		"ReduceScatter": func(c *mpi.Comm, send, recv []int, op mpi.Op[int]) error { return scatterSum(c, send, recv, op, nil) },
		"ReduceScatterBlock": func(c *mpi.Comm, send, recv []int, op mpi.Op[int]) error {
			return mpi.ReduceScatterBlock(c, send, recv[:n/ranks], op)
		},
	} {
		t.Run(name, func(t *testing.T) {
			over(t, ranks, func(c *mpi.Comm) error {
				for _, length := range []int{ranks, n} {
					if name == "ReduceScatterBlock" && length != n {
						continue
					}
					if err := recovers(c, length, call); err != nil {
						return fmt.Errorf("%d elements: %w", length, err)
					}
				}
				return nil
			})
		})
	}
}

func scatterSum(c *mpi.Comm, send, recv []int, op mpi.Op[int], counts []int) error {
	for range c.Size() {
		counts = append(counts, len(send)/c.Size())
	}
	return mpi.ReduceScatter(c, send, recv[:counts[c.Rank()]], counts, op)
}

// recovers makes a call whose operation panics at rank 1. Ranks that don't call it there succeed, or hear of it.
func recovers(c *mpi.Comm, length int, call func(c *mpi.Comm, send, recv []int, op mpi.Op[int]) error) error {
	called := false
	op := func(acc, in []int) {
		if c.Rank() == 1 {
			called = true
			panic("no such sum")
		}
		mpi.Sum(acc, in)
	}
	thrown, err := recovered(func() error { return call(c, make([]int, length), make([]int, length), op) })
	switch {
	case called && thrown != "no such sum":
		return fmt.Errorf("the recovered panic: %v, %w", thrown, err)
	case !called && err != nil && !errors.Is(err, mpi.ErrOther):
		return fmt.Errorf("error %w, want that rank 1 has failed", err)
	}
	return errors.Join(c.Barrier(), sum(c))
}

// recovered returns what a call has panicked with.
func recovered(call func() error) (thrown any, err error) {
	defer func() { thrown = recover() }()
	err = call()
	return nil, err
}
