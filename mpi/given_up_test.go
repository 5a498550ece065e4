package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gomx/internal/testlength"
	"gomx/mpi"
	"gomx/mx"
)

// TestScratchOfAReductionThatWasGivenUp: the memory that an abandoned send is read from is not the next collective's.
func TestScratchOfAReductionThatWasGivenUp(t *testing.T) {
	unchecked(t)
	for _, medium := range media {
		t.Run(medium, func(t *testing.T) {
			skipWithout(t, medium)
			world(t, 4, func(c *mpi.Comm) error { return reduceInVain(c, 7000) },
				mpi.WithTransports(medium), mpi.WithEndpoint(mx.WithEagerLimit(8192)), mpi.WithAlgorithms("reduce=binomial"))
		})
	}
}

// TestProcessesKeepScratchThatIsInUse: the same of memory that lies in the arena, which gets it back.
func TestProcessesKeepScratchThatIsInUse(t *testing.T) {
	unchecked(t)
	jobs(t, "in vain", 4)
}

func init() {
	programs["in vain"] = func(world *mpi.Comm) error {
		if err := world.SetAlgorithm("reduce", "binomial"); err != nil {
			return err
		}
		for range 3 {
			if err := reduceInVain(world, 100_000); err != nil {
				return err
			}
		}
		return until(func() error {
			if n := mpi.Held(world); n > 0 {
				return fmt.Errorf("%d pieces of the arena are held for requests that are over", n)
			}
			return nil
		})
	}
}

// TestWhatIsHeldIsBounded: with as much of the arena in use by what was given up as may be, scratch memory is ordinary memory, until
// that is over.
func TestWhatIsHeldIsBounded(t *testing.T) {
	ours, err := mx.Alloc(1 << 20)
	if err != nil {
		t.Skip("no memory that processes can share here: ", err)
	}
	if err := mx.Free(ours); err != nil {
		t.Fatal(err)
	}
	world(t, 2, func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			if _, err := mpi.Recv(c, make([]byte, 1), 0, goTag); err != nil {
				return err
			}
			return second(mpi.Recv(c, make([]byte, 1), 0, 1))
		}
		q, err := mpi.Issend(c, []byte{1}, 1, 1)
		if err != nil {
			return err
		}
		mpi.Hold(c, make([]byte, mpi.HeldMost), q)
		if mx.Free(mpi.TakeScratch(c, 1<<20)) == nil {
			return errors.New("scratch memory is of the arena, though as much is held as may be")
		}
		if err := mpi.Send(c, []byte{1}, 1, goTag); err != nil {
			return err
		}
		return until(func() error {
			if mpi.Held(c) > 0 {
				return errors.New("it is held still")
			}
			return mx.Free(mpi.TakeScratch(c, 1<<20))
		})
	})
}

// reduceInVain has rank 2 give up a Reduce while it waits for rank 0 to take what it has combined with that of rank 3. Rank 0 takes it
// only when rank 2 is in the next one.
func reduceInVain(c *mpi.Comm, length int) error {
	const taken, again = 1, 2 // what rank 3 says
	var mine, all []int64
	reduce := func(c *mpi.Comm, value int64) error {
		mine, all = filled(length, value), make([]int64, length) // what was given up reads the old one still
		return mpi.Reduce(c, mine, all, mpi.Sum, 0)
	}
	tell := func(rank, tag int) error { return mpi.Send(c, []byte{1}, rank, tag) }
	hear := func(tag int) error { return second(mpi.Recv(c, make([]byte, 1), 3, tag)) }
	if err := c.Barrier(); err != nil { // all are connected
		return err
	}
	first, heard := c, make(chan error, 1)
	switch c.Rank() {
	case 0:
		if err := hear(again); err != nil {
			return err
		}
	case 2:
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		first = c.WithContext(ctx)
		go func() { heard <- hear(taken); cancel() }()
	}
	err := reduce(first, 1)
	switch {
	case c.Rank() == 2 && !errors.Is(err, context.Canceled):
		return fmt.Errorf("rank 2: error %v, want that of the context", err)
	case c.Rank() == 2:
		err = <-heard
	case c.Rank() == 3 && err == nil:
		err = tell(2, taken)
	case c.Rank() == 0 && err == nil:
		err = same(all, filled(length, 4))
	}
	if err != nil {
		return fmt.Errorf("first: %w", err)
	}
	err = reduce(c, 1000)
	switch {
	case c.Rank() == 3 && err == nil:
		err = tell(0, again)
	case c.Rank() == 0 && err == nil:
		err = same(all, filled(length, 4000))
	}
	return errors.Join(err, c.Barrier())
}

// TestThoseBelowLearnOfTheFailure: a rank that fails in a collective says so to those that wait for it, and they to those that wait
// for them.
func TestThoseBelowLearnOfTheFailure(t *testing.T) {
	testlength.Long(t)
	unchecked(t)
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

// TestNothingPilesUp: what comes late for collectives that were given up on a communicator that stays is received, also by a sender
// that waits for it, and dropped.
func TestNothingPilesUp(t *testing.T) {
	testlength.Long(t)
	unchecked(t) // rank 1 would fail as well
	const rounds = 300
	over(t, 2, func(c *mpi.Comm) error {
		if err := c.Barrier(); err != nil {
			return err
		}
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		buf := make([]int64, 50_000)
		if c.Rank() == 0 {
			for range rounds { // rank 1 has not come yet
				if err := mpi.Bcast(c.WithContext(ended), make([]int64, len(buf)), 1); err == nil {
					return errors.New("a Bcast that the root has not started is complete")
				}
			}
			if err := mpi.Send(c, []byte{1}, 1, goTag); err != nil {
				return err
			}
		} else {
			if _, err := mpi.Recv(c, make([]byte, 1), 0, goTag); err != nil {
				return err
			}
			for range rounds {
				q, err := mpi.Ibcast(c, buf, 1)
				if err != nil {
					return err
				}
				if _, err := q.Wait(); err != nil { // rank 0 receives and drops it, however many came before
					return err
				}
			}
		}
		return nothingLeftBehind(c)
	})
}
