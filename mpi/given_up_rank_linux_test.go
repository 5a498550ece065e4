package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mpi"
)

// TestStoppedRankIsGivenUp: when a rank has been given up because it does not move, everything that waits for it ends, whatever begins
// later too, and collectives of those who don't wait for it themselves; and once it goes on, no lock is held by a rank that others take for dead.
func TestStoppedRankIsGivenUp(t *testing.T) { withStoppedForGood(t, "stopped for good", 3) }

// TestStoppedTargetIsGivenUp: the same where nothing but a put finds out that the rank does not move.
func TestStoppedTargetIsGivenUp(t *testing.T) { withStoppedForGood(t, "stopped target", 2) }

func withStoppedForGood(t *testing.T, program string, ranks int) {
	testlength.Long(t)
	amongOthers(t)
	for _, transport := range []string{"shm", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			amongOthers(t)
			skipWithout(t, transport)
			for rank, e := range job(t, program, ranks, "MX_TRANSPORT="+transport, "MX_REQUEST_TIMEOUT=1s") {
				if e.code != 0 || e.output != "" {
					t.Errorf("rank %d: exit code %d, %s", rank, e.code, e.output)
				}
			}
		})
	}
}

func init() {
	programs["stopped for good"] = stoppedForGood
	programs["stopped target"] = stoppedTarget
}

func stoppedTarget(world *mpi.Comm) error {
	p, err := findPatient(world)
	if err != nil {
		return err
	}
	win, err := mpi.WinAllocate[int64](world, 100_000)
	if err != nil {
		return err
	}
	if err := errors.Join(win.Fence(), world.Barrier()); err != nil {
		return err
	}
	if world.Rank() == 1 {
		if err := second(mpi.Recv(world, make([]byte, 1), 0, goTag)); !errors.Is(err, mpi.ErrProcFailed) {
			return fmt.Errorf("a message of who has given it up: error %v, want class %q", err, mpi.ErrProcFailed)
		}
		os.Exit(0)
	}
	if err := p.stop(); err != nil {
		return err
	}
	put := errors.Join(win.Put(make([]int64, 100_000), 1, 0), win.Flush(1))
	asked := second(win.FetchAndOp(1, 1, 0, mpi.AccSum))
	err = p.resume()
	for _, end := range []error{put, asked} {
		if !errors.Is(end, mpi.ErrProcFailed) {
			err = errors.Join(err, fmt.Errorf("error %v, want class %q", end, mpi.ErrProcFailed))
		}
	}
	if err == nil {
		os.Exit(0)
	}
	return err
}

// stoppedForGood has rank 0 give up rank 1, each of which holds the lock of the other. Rank 2 looks whether it hears of that.
func stoppedForGood(world *mpi.Comm) error {
	p, err := findPatient(world)
	if err != nil {
		return err
	}
	win, err := mpi.WinAllocate[int64](world, 10)
	if err != nil {
		return err
	}
	free, err := mpi.WinAllocate[int64](world, 10)
	if err != nil {
		return err
	}
	if rank := world.Rank(); rank < 2 {
		if err := win.Lock(1-rank, true); err != nil {
			return err
		}
	}
	if err := errors.Join(free.Fence(), world.Barrier()); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), bound/2)
	defer cancel()
	hear := func(from int) error { return second(mpi.Recv(world.WithContext(ctx), make([]byte, 1), from, goTag)) }
	tell := func(to int) error { return mpi.Ssend(world.WithContext(ctx), []byte{1}, to, goTag) }
	switch world.Rank() {
	case 0:
		meanwhile := func() error { return errors.Join(tell(2), hear(2)) }
		err = errors.Join(hear(1), giveUpRank(world, win, free, p, meanwhile))
	case 1:
		err = tell(0)    // the barrier is over when it is stopped
		heard := hear(0) // it is stopped in here
		asked := second(free.FetchAndOp(1, 0, 0, mpi.AccSum))
		for _, end := range []error{heard, asked} {
			if !errors.Is(end, mpi.ErrProcFailed) {
				err = errors.Join(err, fmt.Errorf("with who has given it up: error %v, want class %q", end, mpi.ErrProcFailed))
			}
		}
		err = errors.Join(err, win.WithContext(ctx).Lock(1, true)) // which rank 0 had
	case 2:
		err = hear(0)
		if barrier := world.WithContext(ctx).Barrier(); !errors.Is(barrier, mpi.ErrProcFailed) {
			err = errors.Join(err, fmt.Errorf("a barrier of those that are left: error %v, want class %q", barrier, mpi.ErrProcFailed))
		}
		err = errors.Join(err, win.WithContext(ctx).Lock(0, true), tell(0)) // which rank 1 had
	}
	if err != nil {
		return fmt.Errorf("rank %d: %w", world.Rank(), err)
	}
	os.Exit(0) // they don't finalize together any more
	return nil
}

// giveUpRank waits for rank 1, which is stopped, in every way there is. Meanwhile is called when it has given it up.
func giveUpRank(world *mpi.Comm, win, free *mpi.Win[int64], p *patient, meanwhile func() error) error {
	if err := p.stop(); err != nil {
		return err
	}
	waits := map[string]func() error{
		"Ssend":          func() error { return mpi.Ssend(world, []byte{1}, 1, 1) },
		"Recv":           func() error { return second(mpi.Recv(world, make([]byte, 1), 1, 2)) },
		"Lock":           func() error { return free.Lock(1, false) },
		"FetchAndOp":     func() error { return second(win.FetchAndOp(1, 1, 0, mpi.AccSum)) },
		"CompareAndSwap": func() error { return second(win.CompareAndSwap(1, 1, 1, 0)) },
		"GetAccumulate":  func() error { return win.GetAccumulate([]int64{1}, make([]int64, 1), 1, 0, mpi.AccSum) },
		"Accumulate and Flush": func() error {
			return errors.Join(free.Accumulate([]int64{1}, 1, 0, mpi.AccSum), free.Flush(1))
		},
	}
	ends := make(chan error, len(waits))
	for name, wait := range waits {
		go func() {
			err := wait()
			if !errors.Is(err, mpi.ErrProcFailed) {
				ends <- fmt.Errorf("%s: error %v, want class %q", name, err, mpi.ErrProcFailed)
				return
			}
			ends <- nil
		}()
	}
	var err error
	for range waits {
		select {
		case end := <-ends:
			err = errors.Join(err, end)
		case <-time.After(bound / 4):
			return errors.Join(err, errors.New("a call waits for a rank that was given up"), p.resume())
		}
	}
	for name, late := range map[string]func() error{
		"LockAll":    func() error { return free.LockAll() },
		"FetchAndOp": func() error { return second(free.FetchAndOp(1, 1, 0, mpi.AccSum)) },
		"Unlock":     func() error { return win.Unlock(1) },
		"Send":       func() error { return mpi.Send(world, []byte{1}, 1, 1) },
	} {
		if end := late(); !errors.Is(end, mpi.ErrProcFailed) {
			err = errors.Join(err, fmt.Errorf("later %s: error %v, want class %q", name, end, mpi.ErrProcFailed))
		}
	}
	return errors.Join(err, meanwhile(), p.resume())
}
