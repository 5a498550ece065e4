package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gomx/mpi"
	"gomx/mx"
)

// TestScratchOfAReductionThatWasGivenUp: the memory that an abandoned send is read from is not the next collective's.
func TestScratchOfAReductionThatWasGivenUp(t *testing.T) {
	const n, length = 4, 7000
	for _, medium := range media {
		t.Run(medium, func(t *testing.T) {
			skipWithout(t, medium)
			taken, second := make(chan struct{}), make(chan struct{})
			world(t, n, func(c *mpi.Comm) error {
				mine, all := make([]int64, length), make([]int64, length)
				reduce := func(c *mpi.Comm, value int64) error {
					for i := range mine {
						mine[i] = value
					}
					return mpi.Reduce(c, mine, all, mpi.Sum, 0)
				}
				check := func(want int64) error {
					for i := range all {
						if all[i] != want {
							return fmt.Errorf("element %d is %d, want %d", i, all[i], want)
						}
					}
					return nil
				}
				if err := c.Barrier(); err != nil { // all are connected
					return err
				}
				first := c
				switch c.Rank() {
				case 0:
					<-second
				case 2: // combines what rank 3 has sent, and waits in vain for rank 0 to take it
					ctx, cancel := context.WithCancel(context.Background())
					first = c.WithContext(ctx)
					go func() { <-taken; cancel() }()
				}
				switch err := reduce(first, 1); {
				case c.Rank() == 2 && !errors.Is(err, context.Canceled):
					return fmt.Errorf("rank 2: error %v, want that of the context", err)
				case c.Rank() != 2 && err != nil:
					return err
				case c.Rank() == 3:
					close(taken)
				case c.Rank() == 0:
					if err := check(4); err != nil {
						return fmt.Errorf("first: %w", err)
					}
				}
				mine = make([]int64, length) // what was given up reads the old one still
				if err := reduce(c, 1000); err != nil {
					return err
				}
				if c.Rank() == 3 {
					close(second)
				}
				if c.Rank() == 0 {
					if err := check(4000); err != nil {
						return fmt.Errorf("second: %w", err)
					}
				}
				return c.Barrier()
			}, mpi.WithTransports(medium), mpi.WithEndpoint(mx.WithEagerLimit(8192)), mpi.WithAlgorithms("reduce=binomial"))
		})
	}
}

// TestAlgorithmIsThatOfTheCall: what was begun goes on as it was begun, whatever is set before it comes to run.
func TestAlgorithmIsThatOfTheCall(t *testing.T) {
	const length = 1000
	over(t, 4, func(c *mpi.Comm) error {
		for round := range 50 {
			before, after := "recursive-doubling", "ring"
			if round%2 != 0 {
				before, after = after, before
			}
			if err := c.SetAlgorithm("allreduce", before); err != nil {
				return err
			}
			in, out := make([]int64, length), make([]int64, length)
			for i := range in {
				in[i] = int64(i)
			}
			q, err := mpi.Iallreduce(c, in, out, mpi.Sum)
			if err != nil {
				return err
			}
			set := func() error { return c.SetAlgorithm("allreduce", after) }
			wait := func() error { _, err := q.Wait(); return err }
			first, then := set, wait
			if c.Rank()%2 != 0 {
				first, then = wait, set
			}
			if err := errors.Join(first(), then()); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
			for i := range out {
				if out[i] != int64(4*i) {
					return fmt.Errorf("round %d: element %d is %d", round, i, out[i])
				}
			}
		}
		return nil
	})
}

// TestThoseBelowLearnOfTheFailure: a rank that fails in a collective says so to those that wait for it, and they to those that wait
// for them.
func TestThoseBelowLearnOfTheFailure(t *testing.T) {
	const n = 8
	for _, x := range []struct {
		algorithms string
		collective func(c *mpi.Comm, length int) error
		fails      int   // has another length, and learns it itself
		learn      []int // those that wait for it
	}{
		{"bcast=binomial", func(c *mpi.Comm, length int) error { return mpi.Bcast(c, make([]int32, length), 0) }, 4, []int{5, 6, 7}},
		{"bcast=pipeline", func(c *mpi.Comm, length int) error { return mpi.Bcast(c, make([]int32, length), 0) }, 3, []int{4, 5, 6, 7}},
		{"bcast=binomial", func(c *mpi.Comm, length int) error {
			q, err := mpi.Ibcast(c, make([]int32, length), 0)
			if err == nil {
				_, err = q.Wait()
			}
			return err
		}, 4, []int{5, 6, 7}},
		{"reduce=binomial", func(c *mpi.Comm, length int) error {
			return mpi.Reduce(c, make([]int32, length), make([]int32, length), mpi.Sum, 0)
		}, 6, []int{4, 0}},
		{"scan=linear", func(c *mpi.Comm, length int) error {
			return mpi.Scan(c, make([]int32, length), make([]int32, length), mpi.Sum)
		}, 3, []int{4, 5, 6, 7}},
		{"gather=binomial", func(c *mpi.Comm, length int) error {
			return mpi.Gather(c, make([]int32, length), make([]int32, length*n), 0)
		}, 6, []int{4, 0}},
	} {
		t.Run(x.algorithms, func(t *testing.T) {
			over(t, n, func(c *mpi.Comm) error {
				kind, algorithm, _ := strings.Cut(x.algorithms, "=")
				if err := c.SetAlgorithm(kind, algorithm); err != nil {
					return err
				}
				length := 300
				if c.Rank() == x.fails {
					length = 299
				}
				err := x.collective(c.WithContext(t.Context()), length)
				for _, rank := range append(x.learn, x.fails) {
					if rank != c.Rank() {
						continue
					}
					if err := wantError(err, mpi.ErrCount, rank); err != nil {
						return err
					}
				}
				return errors.Join(c.Barrier(), sum(c))
			})
		})
	}
}
