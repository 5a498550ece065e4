package mpi_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"gomx/mpi"
	"gomx/mx"
)

var soakRounds = flag.Int("mpi.rounds", 0, "rounds of TestGivenUpSoak over each transport; 0: 300, or fewer with -short or -race")

// TestGivenUpSoak: communicators are made, calls on them given up at any moment, and the communicators freed and followed by others. No
// result is wrong, and nothing hangs.
func TestGivenUpSoak(t *testing.T) {
	amongOthers(t)
	rounds := roundsOfSoak()
	for _, medium := range media {
		t.Run(medium, func(t *testing.T) {
			amongOthers(t)
			skipWithout(t, medium)
			for first := 0; first < rounds; first += roundsOfWorld {
				world(t, 3, func(c *mpi.Comm) error { return soak(c, first, min(first+roundsOfWorld, rounds)) },
					mpi.WithTransports(medium), mpi.WithEndpoint(mx.WithEagerLimit(8192)))
			}
		})
	}
}

func roundsOfSoak() int {
	switch {
	case *soakRounds > 0:
		return *soakRounds
	case testing.Short() || mpi.Racing:
		return 60
	}
	return 300
}

// roundsOfWorld is how many rounds there are in a world, which has to end in its time.
const roundsOfWorld = 200

func soak(c *mpi.Comm, first, end int) error {
	for round := first; round < end; round++ {
		if err := soakRound(c, round); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
	}
	return nothingLeft(c)
}

// soakCalls are collectives whose results are checked: all contribute value at each place, of so many.
var soakCalls = []func(c *mpi.Comm, length int, value int64) error{
	func(c *mpi.Comm, length int, value int64) error {
		in, out := filled(length, value), make([]int64, length)
		return errors.Join(mpi.Allreduce(c, in, out, mpi.Sum), all(out, 3*value, c))
	},
	func(c *mpi.Comm, length int, value int64) error {
		in, out := filled(length, value), make([]int64, length)
		err := mpi.Reduce(c, in, out, mpi.Sum, 0)
		if c.Rank() == 0 {
			err = errors.Join(err, all(out, 3*value, c))
		}
		return err
	},
	func(c *mpi.Comm, length int, value int64) error {
		buf := filled(length, -1)
		if c.Rank() == 1 {
			buf = filled(length, value)
		}
		return errors.Join(mpi.Bcast(c, buf, 1), all(buf, value, c))
	},
	func(c *mpi.Comm, length int, value int64) error {
		out := make([]int64, 3*length)
		return errors.Join(mpi.Allgather(c, filled(length, value), out), all(out, value, c))
	},
	func(c *mpi.Comm, length int, value int64) error {
		out := make([]int64, 3*length)
		return errors.Join(mpi.Alltoall(c, filled(3*length, value), out), all(out, value, c))
	},
	func(c *mpi.Comm, length int, value int64) error {
		out := make([]int64, length)
		q, err := mpi.Iallreduce(c, filled(length, value), out, mpi.Sum)
		if err != nil {
			return err
		}
		_, err = q.Wait()
		return errors.Join(err, all(out, 3*value, c))
	},
	func(c *mpi.Comm, _ int, _ int64) error {
		d, err := c.Dup()
		if err == nil {
			err = d.Free()
		}
		return err
	},
	func(c *mpi.Comm, _ int, _ int64) error {
		d, err := c.Split(c.Rank()%2, 0)
		if err == nil {
			err = d.Free()
		}
		return err
	},
	func(c *mpi.Comm, _ int, _ int64) error { return c.Barrier() },
}

func filled(n int, value int64) []int64 {
	s := make([]int64, n)
	for i := range s {
		s[i] = value
	}
	return s
}

// errWrong is what the soak looks for.
var errWrong = errors.New("a wrong result")

func all(s []int64, want int64, c *mpi.Comm) error {
	for i := range s {
		if s[i] != want {
			return fmt.Errorf("%w: element %d at rank %d of %s is %d, want %d", errWrong, i, c.Rank(), c.Name(), s[i], want)
		}
	}
	return nil
}

// soakRound gives up something on a communicator, and looks whether that and the next one are right. The dice that all ranks throw
// alike say what; those of each rank say when.
func soakRound(c *mpi.Comm, round int) error {
	common, own := rand.New(rand.NewPCG(1, uint64(round))), rand.New(rand.NewPCG(uint64(c.Rank())+2, uint64(round)))
	d, err := c.Dup()
	if err != nil {
		return err
	}
	value, length := int64(round)+1, []int{1, 500, 7000}[common.IntN(3)]
	hasty, late := own.IntN(3) == 0, own.IntN(3) == 0
	switch common.IntN(3) {
	case 0: // messages, of which some are never received
		err = soakMessages(d, own, length, value)
	case 1: // one rank stays away; the numbers of collectives differ afterwards, and d is only freed
		if c.Rank() != common.IntN(3) {
			err = soakCall(d, soakCalls[common.IntN(len(soakCalls))], own, length, value, true, late)
		}
	default:
		call := soakCalls[common.IntN(len(soakCalls))]
		err = soakCall(d, call, own, length, value, hasty, late)
		for again := 0; again < 2 && err == nil; again++ {
			out := []int64{0}
			err = errors.Join(mpi.Allreduce(d, []int64{value}, out, mpi.Sum), all(out, 3*value, d))
		}
	}
	if err := errors.Join(err, d.Free()); err != nil {
		return err
	}
	e, err := c.Dup()
	if err != nil {
		return err
	}
	out := []int64{0}
	err = errors.Join(mpi.Allreduce(e, []int64{value + 7}, out, mpi.Sum), all(out, 3*(value+7), e))
	in, next, before := filled(1, 0), (e.Rank()+1)%3, (e.Rank()+2)%3
	_, sent := mpi.Sendrecv(e, []int64{-value}, next, 4, in, before, 4)
	return errors.Join(err, sent, all(in, -value, e), e.Free())
}

// soakCall makes a call, under a deadline if the rank is hasty. It is right, or has failed.
func soakCall(d *mpi.Comm, call func(c *mpi.Comm, length int, value int64) error, own *rand.Rand, length int, value int64, hasty, late bool) error {
	if late {
		time.Sleep(time.Duration(own.IntN(500)) * time.Microsecond)
	}
	if hasty {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(own.IntN(400))*time.Microsecond)
		defer cancel()
		d = d.WithContext(ctx)
	}
	err := call(d, length, value)
	if failed, ok := errors.AsType[*mpi.Error](err); ok {
		if errors.Is(failed, context.DeadlineExceeded) || errors.Is(failed, mpi.ErrOther) {
			return nil
		}
	}
	return err
}

// soakMessages sends to the next rank and receives of the one before, both under deadlines.
func soakMessages(d *mpi.Comm, own *rand.Rand, length int, value int64) error {
	next, before := (d.Rank()+1)%3, (d.Rank()+2)%3
	err := soakCall(d, func(c *mpi.Comm, length int, value int64) error {
		return mpi.Send(c, filled(length, value), next, 4)
	}, own, length, value, true, false)
	if own.IntN(3) == 0 {
		return err
	}
	return errors.Join(err, soakCall(d, func(c *mpi.Comm, length int, value int64) error {
		in := make([]int64, length)
		_, err := mpi.Recv(c, in, before, 4)
		return errors.Join(err, all(in, value, c))
	}, own, length, value, true, true))
}
