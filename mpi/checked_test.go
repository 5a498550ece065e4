package mpi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gomx/mpi"
)

// Two kinds of elements of the same length.
type (
	pair struct {
		_ int32
		_ float32
	}
	couple struct {
		_ float32
		_ int32
	}
	number                     int
	lengthy[T int32 | float32] struct {
		_ [30]struct{ _ int32 }
		_ [2]T
	}
	point struct{ X, Y float64 }
)

// inWindow returns a collective on a window that is made before.
func inWindow(call func(w *mpi.Win[int64]) error) func(c *mpi.Comm) error {
	return func(c *mpi.Comm) error {
		w, err := mpi.WinAllocate[int64](c, 1)
		if err != nil {
			return err
		}
		return call(w)
	}
}

// inGrid returns a Sub of a grid.
func inGrid(keep ...bool) func(c *mpi.Comm) error {
	return func(c *mpi.Comm) error {
		g, err := c.Cart([]int{3, 1}, []bool{false, false}, false)
		if err != nil {
			return err
		}
		return second(g.Sub(keep...))
	}
}

// createOf returns a Create of these ranks.
func createOf(ranks ...int) func(c *mpi.Comm) error {
	return func(c *mpi.Comm) error {
		g, err := c.Group().Incl(ranks...)
		if err != nil {
			return err
		}
		return second(c.Create(g))
	}
}

// exchangeCounts exchanges so many elements with each rank; what a rank has for itself is as much as it expects.
func exchangeCounts(c *mpi.Comm, send, recv []int) error {
	return mpi.Alltoallv(c, make([]int32, 9), send, nil, make([]int32, 9), recv, nil)
}

func nothing[T any](_, _ []T) {}

// waited waits for what was started.
func waited(q mpi.Request, err error) error {
	if err == nil {
		_, err = q.Wait()
	}
	return err
}

// differing are calls of three ranks of which the last does something else.
type differing struct {
	usual, odd func(c *mpi.Comm) error
	words      []string // in the errors of all
}

func (x *differing) test(t *testing.T) {
	world(t, 3, func(c *mpi.Comm) error {
		call := x.usual
		if c.Rank() == 2 {
			call = x.odd
		}
		err := call(c)
		if err := wantError(err, mpi.ErrMismatch, c.Rank()); err != nil {
			return err
		}
		for _, word := range x.words {
			if !strings.Contains(err.Error(), word) {
				return fmt.Errorf("%q does not mention %q", err, word)
			}
		}
		return nil
	}, mpi.WithCheckedCollectives())
}

// TestChecked has ranks do different things, and looks that all learn the same.
func TestChecked(t *testing.T) {
	one, two := make([]int32, 1), make([]int32, 2)
	for name, x := range map[string]differing{
		"call": {func(c *mpi.Comm) error { return mpi.Bcast(c, one, 0) }, func(c *mpi.Comm) error { return c.Barrier() },
			[]string{"Bcast", "Barrier"}},
		"root": {func(c *mpi.Comm) error { return mpi.Bcast(c, one, 0) }, func(c *mpi.Comm) error { return mpi.Bcast(c, one, 1) },
			[]string{"root 0", "root 1"}},
		"root of a Reduce": {func(c *mpi.Comm) error { return mpi.Reduce(c, one, make([]int32, 1), mpi.Sum, 0) },
			func(c *mpi.Comm) error { return mpi.Reduce(c, one, make([]int32, 1), mpi.Sum, 2) }, []string{"root 0", "root 2"}},
		"root of a Gather": {func(c *mpi.Comm) error { return mpi.Gather(c, one, make([]int32, 3), 0) },
			func(c *mpi.Comm) error { return mpi.Gather(c, one, make([]int32, 3), 2) }, []string{"root 0", "root 2"}},
		"root of a Scatter": {func(c *mpi.Comm) error { return mpi.Scatter(c, make([]int32, 3), one, 0) },
			func(c *mpi.Comm) error { return mpi.Scatter(c, make([]int32, 3), one, 2) }, []string{"root 0", "root 2"}},
		"count": {func(c *mpi.Comm) error { return mpi.Bcast(c, one, 0) }, func(c *mpi.Comm) error { return mpi.Bcast(c, two, 0) },
			[]string{"1 elements", "2 elements"}},
		"type": {func(c *mpi.Comm) error { return mpi.Bcast(c, one, 0) }, func(c *mpi.Comm) error { return mpi.Bcast(c, make([]int64, 1), 0) },
			[]string{"4 bytes", "8 bytes"}},
		"layout": {func(c *mpi.Comm) error { return mpi.Bcast(c, make([]int64, 3), 0) }, func(c *mpi.Comm) error { return mpi.Bcast(c, make([]float64, 3), 0) },
			[]string{"int64", "float64"}},
		"layout of parts": {func(c *mpi.Comm) error { return mpi.Gather(c, make([]int64, 3), make([]int64, 9), 0) },
			func(c *mpi.Comm) error { return mpi.Gather(c, make([]float64, 3), make([]float64, 9), 0) }, []string{"int64", "float64"}},
		"layout of structs": {func(c *mpi.Comm) error { return mpi.Allgather(c, make([]pair, 1), make([]pair, 3)) },
			func(c *mpi.Comm) error { return mpi.Allgather(c, make([]couple, 1), make([]couple, 3)) }, []string{"{int32@0 float32@4}", "{float32@0 int32@4}"}},
		"operation": {func(c *mpi.Comm) error { return mpi.Allreduce(c, one, make([]int32, 1), mpi.Sum) },
			func(c *mpi.Comm) error { return mpi.Allreduce(c, one, make([]int32, 1), mpi.Max) }, []string{"Sum", "Max"}},
		"elements that are not the same number": {func(c *mpi.Comm) error { return mpi.Bcast(c, make([][2]int32, 2), 0) },
			func(c *mpi.Comm) error { return mpi.Bcast(c, make([]int32, 5), 0) }, []string{"2 elements of 8 bytes, [2]int32", "5 elements of 4 bytes, int32"}},
		"elements of a reduction": {func(c *mpi.Comm) error { return mpi.Allreduce(c, make([][2]int32, 2), make([][2]int32, 2), nothing) },
			func(c *mpi.Comm) error { return mpi.Allreduce(c, make([]int32, 4), make([]int32, 4), nothing) }, []string{"[2]int32", "nothing[...]"}},
		"long elements": {func(c *mpi.Comm) error { return mpi.Bcast(c, make([]lengthy[int32], 1), 0) },
			func(c *mpi.Comm) error { return mpi.Bcast(c, make([]lengthy[float32], 1), 0) }, []string{"1 elements of 128 bytes, {"}},
		"dimensions of a grid": {func(c *mpi.Comm) error { return second(c.Cart([]int{1, 3}, []bool{false, true}, false)) },
			func(c *mpi.Comm) error { return second(c.Cart([]int{3, 1}, []bool{false, true}, false)) },
			[]string{"Cart(dimensions [1 3], periodic [false true])", "Cart(dimensions [3 1], periodic [false true])"}},
		"periods of a grid": {func(c *mpi.Comm) error { return second(c.Cart([]int{3}, []bool{false}, false)) },
			func(c *mpi.Comm) error { return second(c.Cart([]int{3}, []bool{true}, false)) },
			[]string{"Cart(dimensions [3], periodic [false])", "Cart(dimensions [3], periodic [true])"}},
		"dimensions that are kept": {inGrid(true, false), inGrid(false, true), []string{"Sub(keep [true false])", "Sub(keep [false true])"}},
		"group":                    {createOf(0, 1, 2), createOf(0, 2, 1), []string{"Create(ranks [0 1 2] of the world)", "Create(ranks [0 2 1] of the world)"}},
		"making of a communicator": {func(c *mpi.Comm) error { return second(c.Split(0, 0)) },
			func(c *mpi.Comm) error { return second(c.Dup()) }, []string{"rank 0 is in Split,", "rank 2 in Dup"}},
		"counts": {func(c *mpi.Comm) error { return mpi.Allgatherv(c, one, make([]int32, 9), []int{1, 1, 1}, nil) },
			func(c *mpi.Comm) error { return mpi.Allgatherv(c, one, make([]int32, 9), []int{2, 1, 1}, nil) }, []string{"counts [1 1 1]", "counts [2 1 1]"}},
		"blocking": {func(c *mpi.Comm) error { return c.Barrier() },
			func(c *mpi.Comm) error { return waited(c.Ibarrier()) }, []string{"in Barrier,", "in Ibarrier"}},
		"making of a window": {func(c *mpi.Comm) error { return second(mpi.WinAllocate[int64](c, 1)) },
			func(c *mpi.Comm) error { return c.Barrier() }, []string{"WinAllocate", "Barrier"}},
		"elements of a window": {func(c *mpi.Comm) error { return second(mpi.WinCreate(c, make([]int64, 1))) },
			func(c *mpi.Comm) error { return second(mpi.WinCreate(c, make([]int32, 1))) }, []string{"WinCreate", "8 bytes, int64", "4 bytes, int32"}},
		"Free":     {inWindow((*mpi.Win[int64]).Free), inWindow((*mpi.Win[int64]).Fence), []string{"Win.Free", "Win.Fence"}},
		"Finalize": {func(c *mpi.Comm) error { return c.Finalize() }, func(c *mpi.Comm) error { return c.Barrier() }, []string{"Finalize", "Barrier"}},
	} {
		x.words = append(x.words, "rank 0", "rank 2")
		t.Run(name, x.test)
	}
}

// TestCheckedLengths has ranks give messages of a collective lengths that differ at the two sides, and looks that all learn of it.
func TestCheckedLengths(t *testing.T) {
	one, two := make([]int32, 1), make([]int32, 2)
	for name, x := range map[string]differing{
		"Gatherv": {func(c *mpi.Comm) error { return mpi.Gatherv(c, two, make([]int32, 6), []int{2, 2, 2}, nil, 1) },
			func(c *mpi.Comm) error { return mpi.Gatherv(c, one, nil, nil, nil, 1) }, []string{"rank 2 is to send 4 bytes to rank 1, which expects 8"}},
		"Scatterv": {func(c *mpi.Comm) error { return mpi.Scatterv(c, make([]int32, 6), []int{2, 2, 2}, nil, two, 1) },
			func(c *mpi.Comm) error { return mpi.Scatterv(c, nil, nil, nil, one, 1) }, []string{"rank 1 is to send 8 bytes to rank 2, which expects 4"}},
		"Alltoallv": {func(c *mpi.Comm) error { return exchangeCounts(c, []int{1, 1, 1}, []int{1, 1, 1}) },
			func(c *mpi.Comm) error { return exchangeCounts(c, []int{1, 2, 1}, []int{1, 1, 1}) }, []string{"rank 2 is to send 8 bytes to rank 1, which expects 4"}},
		"Alltoallv whose receiver is wrong": {func(c *mpi.Comm) error { return exchangeCounts(c, []int{1, 1, 1}, []int{1, 1, 1}) },
			func(c *mpi.Comm) error { return exchangeCounts(c, []int{1, 1, 1}, []int{3, 1, 1}) }, []string{"rank 0 is to send 4 bytes to rank 2, which expects 12"}},
		"Igatherv": {func(c *mpi.Comm) error { return waited(mpi.Igatherv(c, two, make([]int32, 6), []int{2, 2, 2}, nil, 0)) },
			func(c *mpi.Comm) error { return waited(mpi.Igatherv(c, one, nil, nil, nil, 0)) }, []string{"rank 2 is to send 4 bytes to rank 0, which expects 8"}},
	} {
		t.Run(name, x.test)
	}
}

// TestCheckedWorks does what the other tests do, with the check.
func TestCheckedWorks(t *testing.T) {
	world(t, 4, func(c *mpi.Comm) error {
		v := []int{c.Rank()}
		all := make([]int, 4)
		q, err := mpi.Iallgather(c, v, all)
		if err != nil {
			return err
		}
		if _, err := q.Wait(); err != nil {
			return err
		}
		if err := same(all, []int{0, 1, 2, 3}); err != nil {
			return err
		}
		if err := mpi.Gatherv(c, make([]int, c.Rank()), make([]int, 6), []int{0, 1, 2, 3}, nil, 0); err != nil {
			return err
		}
		if err := mpi.Allreduce(c, v, v, mpi.Sum); err != nil {
			return err
		}
		if err := same(v, []int{6}); err != nil {
			return err
		}
		if c.Rank() == 1 { // the same elements by another name
			return mpi.Bcast(c, []number{1}, 0)
		}
		return mpi.Bcast(c, v, 0)
	}, mpi.WithCheckedCollectives())
}

// TestCheckedElementsOfOneMeaning: what a buffer consists of counts, not how a rank calls it, or how it bundles it.
func TestCheckedElementsOfOneMeaning(t *testing.T) {
	world(t, 3, func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			return moveAll[point](c, 1)
		}
		return moveAll[float64](c, 2)
	}, mpi.WithCheckedCollectives())
}

// moveAll moves parts of n elements, and such of one, two and no parts, by all collectives that move data.
func moveAll[T any](c *mpi.Comm, n int) error {
	part, all := make([]T, n), make([]T, 3*n)
	counts := []int{n, 2 * n, 0}
	own := make([]T, counts[c.Rank()])
	column := []int{counts[c.Rank()], counts[c.Rank()], counts[c.Rank()]}
	return errors.Join(
		mpi.Bcast(c, part, 1),
		mpi.Gather(c, part, all, 1),
		mpi.Gatherv(c, own, all, counts, nil, 1),
		mpi.Scatter(c, all, part, 1),
		mpi.Scatterv(c, all, counts, nil, own, 1),
		mpi.Allgather(c, part, all),
		mpi.Allgatherv(c, own, all, counts, nil),
		mpi.Alltoall(c, all, make([]T, 3*n)),
		mpi.Alltoallv(c, all, counts, nil, make([]T, 6*n), column, nil),
	)
}
