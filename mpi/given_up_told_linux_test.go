package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"gomx/mpi"
)

// TestStoppedRankIsGivenUpByHearsay: a rank that was only told that another does not move has all its own waits for it end, whatever call they
// are, and whatever begins later too. What the stopped rank had sent before is received.
func TestStoppedRankIsGivenUpByHearsay(t *testing.T) { withStoppedForGood(t, "stopped by hearsay", 3) }

func init() { programs["stopped by hearsay"] = stoppedByHearsay }

// keptTag is the tag of what rank 1 sends before it is stopped, which rank 0 receives when it takes that for dead.
const keptTag = goTag + 1

// stoppedByHearsay has rank 2 find out that rank 1 does not move. Rank 0 hears of that while it waits for rank 1 in every way there is.
func stoppedByHearsay(world *mpi.Comm) error {
	p, err := findPatient(world)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), bound/2)
	defer cancel()
	hear := func(from int) error { return second(mpi.Recv(world.WithContext(ctx), make([]byte, 1), from, goTag)) }
	tell := func(to int) error { return mpi.Ssend(world.WithContext(ctx), []byte{1}, to, goTag) }
	if err := world.Barrier(); err != nil {
		return err
	}
	switch world.Rank() {
	case 0:
		meanwhile := func() error { return errors.Join(tell(2), hear(2)) }
		err = errors.Join(hear(1), hearOfRank1(world, p, meanwhile), tell(2))
	case 1:
		err = errors.Join(mpi.Send(world, []int64{4, 5, 6}, 0, keptTag), tell(0))
		for _, from := range []int{0, mpi.AnySource} { // it is stopped in here
			if end := hear(from); !errors.Is(end, mpi.ErrProcFailed) {
				err = errors.Join(err, fmt.Errorf("from %d, which has given it up: error %v, want class %q", from, end, mpi.ErrProcFailed))
			}
		}
	case 2:
		err = hear(0)
		if end := mpi.Ssend(world, []byte{1}, 1, 1); !errors.Is(end, mpi.ErrProcFailed) {
			err = errors.Join(err, fmt.Errorf("Ssend to a stopped rank: error %v, want class %q", end, mpi.ErrProcFailed))
		}
		err = errors.Join(err, tell(0), hear(0)) // which hears the news before this one leaves
	}
	if err != nil {
		return fmt.Errorf("rank %d: %w", world.Rank(), err)
	}
	os.Exit(0) // they don't finalize together any more
	return nil
}

// hearOfRank1 waits for rank 1, which it stops. What meanwhile does has it told that rank 1 does not move.
func hearOfRank1(world *mpi.Comm, p *patient, meanwhile func() error) error {
	ends, waits := make(chan error, 100), waitsForRank1(world)
	for name, wait := range waits {
		go func() { ends <- wantLost(name, wait()) }()
	}
	if err := errors.Join(p.stop(), meanwhile()); err != nil {
		return err
	}
	for name, wait := range waitsForRank1(world) {
		go func() { ends <- wantLost("later "+name, wait()) }()
	}
	var err error
	for limit, n := time.After(bound/4), 2*len(waits); n > 0; n-- {
		select {
		case end := <-ends:
			err = errors.Join(err, end)
		case <-limit:
			return errors.Join(err, fmt.Errorf("%d calls wait for a rank that was given up", n), p.resume())
		}
	}
	err = errors.Join(err, wantLost("later Send", mpi.Send(world, []byte{1}, 1, 1)))
	got := make([]int64, 3)
	if kept := second(mpi.Recv(world, got, 1, keptTag)); kept != nil || !slices.Equal(got, []int64{4, 5, 6}) {
		err = errors.Join(err, fmt.Errorf("what rank 1 had sent before: %d, %w", got, kept))
	}
	return errors.Join(err, p.resume())
}

func wantLost(name string, err error) error {
	if !errors.Is(err, mpi.ErrProcFailed) {
		return fmt.Errorf("%s: error %v, want class %q", name, err, mpi.ErrProcFailed)
	}
	return nil
}

// waitsForRank1 are calls that wait for a message of rank 1, and find nothing out by themselves.
func waitsForRank1(world *mpi.Comm) map[string]func() error {
	in := func() []int32 { return make([]int32, 10) }
	started := func(wait func(q *mpi.Request) error) func() error {
		return func() error {
			q, err := mpi.Irecv(world, in(), 1, 1)
			if err != nil {
				return err
			}
			return wait(&q)
		}
	}
	return map[string]func() error{
		"Recv": func() error { return second(mpi.Recv(world, in(), 1, 1)) },
		"Recv with a context": func() error {
			ctx, cancel := context.WithTimeout(context.Background(), bound)
			defer cancel()
			return second(mpi.Recv(world.WithContext(ctx), in(), 1, 1))
		},
		"Irecv and Wait": started(func(q *mpi.Request) error { return second(q.Wait()) }),
		"WaitAll":        started(func(q *mpi.Request) error { return mpi.WaitAll([]mpi.Request{*q}, nil) }),
		"WaitAny": started(func(q *mpi.Request) error {
			_, _, err := mpi.WaitAny([]mpi.Request{*q})
			return err
		}),
		"WaitSome": started(func(q *mpi.Request) error { return second(mpi.WaitSome([]mpi.Request{*q}, nil)) }),
		"Test": started(func(q *mpi.Request) error {
			for {
				if _, done, err := q.Test(); done || err != nil {
					return err
				}
				time.Sleep(time.Millisecond)
			}
		}),
		"Probe": func() error { return second(world.Probe(1, 1)) },
		"Mprobe": func() error {
			_, _, err := world.Mprobe(1, 1)
			return err
		},
		"RecvLayout": func() error { return second(mpi.RecvLayout(world, in(), mpi.Vector(3, 1, 2), 1, 1)) },
		"Start of RecvInit": func() error {
			r, err := mpi.RecvInit(world, in(), 1, 1)
			if err != nil {
				return err
			}
			q, err := r.Start()
			if err != nil {
				return err
			}
			return second(q.Wait())
		},
		"Sendrecv": func() error { return second(mpi.Sendrecv(world, in(), 1, 1, in(), 1, 1)) },
	}
}
