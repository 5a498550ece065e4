package mpi_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mpi"
)

func init() {
	programs["finalizes again"] = finalizesAgain
	programs["finalizes without the dead"] = finalizesWithoutTheDead
}

// TestFinalizeAgain: ranks whose contexts end in Finalize call it again. It ends well at all, also where the others had heard of a rank before
// that gave up, and were the last to come.
func TestFinalizeAgain(t *testing.T) {
	testlength.Long(t)
	for giver := 1; giver < 4; giver++ {
		t.Run(fmt.Sprint("rank ", giver), func(t *testing.T) {
			over(t, 4, func(c *mpi.Comm) error {
				switch c.Rank() {
				case giver:
					ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
					defer cancel()
					if err := c.WithContext(ctx).Finalize(); !errors.Is(err, context.DeadlineExceeded) {
						return fmt.Errorf("error %v, want that of the context", err)
					}
					if err := mpi.Send(c, []byte{1}, 0, goTag); err != nil {
						return err
					}
					time.Sleep(10 * time.Millisecond) // so that the others may leave before the second call
				case 0:
					if _, err := mpi.Recv(c, make([]byte, 1), giver, goTag); err != nil {
						return err
					}
				}
				return finalizeAtLast(c, unbounded)
			})
		})
	}
}

// giveUpFinalize has a rank give up Finalize when the others have been told that it comes, and returns how many calls that took: those before the last
// have failed at all ranks, since the machine was too slow for them.
func giveUpFinalize(c *mpi.Comm, wait time.Duration) (calls int, err error) {
	for ; calls < 5; wait *= 4 {
		calls++
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		err = c.WithContext(ctx).Finalize()
		cancel()
		if !errors.Is(err, mpi.ErrGivenUp) {
			break
		}
	}
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, mpi.ErrGivenUp) {
		return calls, fmt.Errorf("error %v, want that of a wait which the context has ended", err)
	}
	return calls, nil
}

// unbounded is a context for finalizeAtLast that never ends.
func unbounded() (context.Context, context.CancelFunc) { return context.Background(), func() {} }

// TestFinalizeHearsOfAFailureOnce: a rank whose wait has ended in Finalize learns at its next call that another rank has failed that Finalize since, as
// the others have learnt. Then it takes part in their later collectives.
func TestFinalizeHearsOfAFailureOnce(t *testing.T) {
	testlength.Long(t)
	amongOthers(t)
	unchecked(t) // where ranks check, nobody has come before all are there
	for name, later := range map[string]func(c *mpi.Comm) error{"Allreduce": sum, "Barrier": (*mpi.Comm).Barrier} {
		t.Run(name, func(t *testing.T) {
			over(t, 3, func(c *mpi.Comm) error {
				if err := sum(c); err != nil {
					return err
				}
				if err := finalizeInVainBehindRank2(c); err != nil {
					return err
				}
				return errors.Join(later(c), finalizeAtLast(c, unbounded))
			})
		})
	}
}

// finalizeInVainBehindRank2 has rank 0 fail a Finalize to which rank 2 has come.
func finalizeInVainBehindRank2(c *mpi.Comm) error {
	if c.Rank() == 2 {
		calls, err := giveUpFinalize(c, 100*time.Millisecond)
		for to := range 2 {
			err = errors.Join(err, mpi.Send(c, []int64{int64(calls)}, to, goTag))
		}
		return errors.Join(err, failedAt0(c.Finalize()))
	}
	calls := make([]int64, 1)
	if _, err := mpi.Recv(c, calls, 2, goTag); err != nil {
		return err
	}
	for range calls[0] - 1 {
		if err := c.Finalize(); !errors.Is(err, mpi.ErrOther) {
			return fmt.Errorf("error %v, want that of rank 2", err)
		}
	}
	if c.Rank() == 1 {
		return failedAt0(c.Finalize())
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.WithContext(ended).Finalize(); !errors.Is(err, mpi.ErrGivenUp) {
		return fmt.Errorf("error %v, want that of the context", err)
	}
	return nil
}

func failedAt0(err error) error {
	if !errors.Is(err, mpi.ErrOther) || !strings.Contains(err.Error(), "has failed at rank 0") {
		return fmt.Errorf("error %v, want one that names rank 0", err)
	}
	return nil
}

// TestFinalizeFailsAtAllForACopy: where a context ends Finalize while the rank waits for a buffered message to be received, the others do not leave.
func TestFinalizeFailsAtAllForACopy(t *testing.T) {
	const size = 1 << 20
	over(t, 2, func(c *mpi.Comm) error {
		if err := c.Barrier(); err != nil {
			return err
		}
		if c.Rank() == 1 {
			if err := errors.Join(failedAt0(c.Finalize()), c.Barrier()); err != nil {
				return err
			}
			_, err := mpi.Recv(c, make([]byte, size), 0, 5)
			return err
		}
		if err := mpi.Bsend(c, make([]byte, size), 1, 5); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		if err := c.WithContext(ctx).Finalize(); !errors.Is(err, mpi.ErrGivenUp) {
			return fmt.Errorf("error %v, want that of the context", err)
		}
		return c.Barrier()
	})
}

// finalizeAtLast calls Finalize until it ends well. A call that others or this rank have given up is repeated.
func finalizeAtLast(c *mpi.Comm, bounded func() (context.Context, context.CancelFunc)) error {
	const most = 100_000
	for range most {
		ctx, cancel := bounded()
		err := c.WithContext(ctx).Finalize()
		cancel()
		if e, ok := errors.AsType[*mpi.Error](err); err == nil || !ok || e.Class != mpi.ErrOther {
			return err
		}
	}
	return fmt.Errorf("Finalize was given up %d times", most)
}

var worldsToEnd = flag.Int("mpi.worlds", 12, "number of worlds of each kind that TestFinalizeUnderRandomDeadlines ends")

// TestFinalizeUnderRandomDeadlines has all ranks call Finalize with deadlines that may end at every step of it.
func TestFinalizeUnderRandomDeadlines(t *testing.T) {
	testlength.Long(t)
	amongOthers(t)
	worlds := *worldsToEnd
	if testing.Short() {
		worlds = 5
	}
	for _, n := range []int{2, 3, 6} {
		for _, medium := range media {
			t.Run(fmt.Sprintf("%s/%d", medium, n), func(t *testing.T) {
				amongOthers(t)
				skipWithout(t, medium)
				for seed := range worlds {
					world(t, n, func(c *mpi.Comm) error { return finalizeInTime(c, seed) }, mpi.WithTransports(medium))
				}
			})
		}
	}
}

func finalizeInTime(c *mpi.Comm, seed int) error {
	random := rand.New(rand.NewPCG(uint64(seed), uint64(c.Rank())))
	if err := c.Barrier(); err != nil {
		return err
	}
	call := 0
	return finalizeAtLast(c, func() (context.Context, context.CancelFunc) {
		call++
		most := 20*call + call*call/5 // at last all are patient enough for each other, on a busy machine too
		return context.WithTimeout(context.Background(), time.Duration(random.IntN(most))*time.Microsecond)
	})
}

// TestProcessesFinalizeAgain: what a rank that gave up Finalize has to pass on, it does while it computes.
func TestProcessesFinalizeAgain(t *testing.T) {
	testlength.Long(t)
	unchecked(t) // where ranks check, nobody has come before all are there
	overProcesses(t, "finalizes again", [4]int{0, 0, 0, 0}, silent)
}

// finalizesAgain has rank 2 give up Finalize when all but rank 0 have come, and look again when the others have left.
func finalizesAgain(world *mpi.Comm) error {
	switch world.Rank() {
	case 0:
		if _, err := mpi.Recv(world, make([]byte, 1), 2, goTag); err != nil {
			return err
		}
	case 2:
		if err := finalizeBehindRank3(world); err != nil {
			return err
		}
		time.Sleep(3 * time.Second) // the ring has begun, and notices who leaves
	case 3:
		if err := mpi.Send(world, []byte{1}, 2, goTag); err != nil {
			return err
		}
	}
	if err := finalizeAtLast(world, unbounded); err != nil {
		return err
	}
	os.Exit(0)
	return nil
}

// finalizeBehindRank3 has rank 2 give up Finalize when rank 3, which sends it a message before, has come, and tells rank 0.
func finalizeBehindRank3(world *mpi.Comm) error {
	if _, err := mpi.Recv(world, make([]byte, 1), 3, goTag); err != nil {
		return err
	}
	if _, err := giveUpFinalize(world, time.Second); err != nil {
		return err
	}
	return mpi.Send(world, []byte{1}, 0, goTag)
}

// TestFinalizeAgainWithoutTheDead: where a rank dies that had not come, what a context has left of Finalize ends with that, at all.
func TestFinalizeAgainWithoutTheDead(t *testing.T) {
	testlength.Long(t)
	unchecked(t)
	overProcesses(t, "finalizes without the dead", [4]int{9, 0, 0, 0}, silent)
}

func finalizesWithoutTheDead(world *mpi.Comm) error {
	switch world.Rank() {
	case 0:
		if _, err := mpi.Recv(world, make([]byte, 1), 2, goTag); err != nil {
			return err
		}
		exit9()
	case 2:
		if err := finalizeBehindRank3(world); err != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	case 3:
		if err := mpi.Send(world, []byte{1}, 2, goTag); err != nil {
			return err
		}
	}
	if err := wantFailure(finalizeAtLast(world, unbounded), world, "rank 0 of the world"); err != nil {
		return err
	}
	os.Exit(0)
	return nil
}

// TestFinalizeAgainWithCopies: a buffered message that nobody has received when a context ends Finalize is waited for by the next one.
func TestFinalizeAgainWithCopies(t *testing.T) {
	const size = 1 << 20
	over(t, 2, func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			if _, err := mpi.Recv(c, make([]byte, 1), 0, goTag); err != nil {
				return err
			}
			got := make([]byte, size)
			if _, err := mpi.Recv(c, got, 0, 5); err != nil || got[size-1] != 7 {
				return fmt.Errorf("got %d: %w", got[size-1], err)
			}
			return finalizeAtLast(c, unbounded)
		}
		b := make([]byte, size)
		b[size-1] = 7
		if err := mpi.Bsend(c, b, 1, 5); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		if err := c.WithContext(ctx).Finalize(); !errors.Is(err, mpi.ErrGivenUp) {
			return fmt.Errorf("error %v, want that of the context", err)
		}
		if err := mpi.Send(c, []byte{1}, 1, goTag); err != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
		return c.Finalize()
	})
}

// TestFinalizeComesBeforeACopy: a rank that the others know to come has buffered another message. A context that ends while Finalize waits for that
// ends the wait alone.
func TestFinalizeComesBeforeACopy(t *testing.T) {
	unchecked(t)
	const size = 1 << 20
	over(t, 2, func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			_, err := mpi.Recv(c, make([]byte, 1), 1, goTag)
			if err == nil {
				_, err = mpi.Recv(c, make([]byte, size), 1, 5)
			}
			return errors.Join(err, finalizeAtLast(c, unbounded))
		}
		_, err := giveUpFinalize(c, 50*time.Millisecond)
		if err := errors.Join(err, mpi.Bsend(c, make([]byte, size), 0, 5)); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		if err := c.WithContext(ctx).Finalize(); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, mpi.ErrGivenUp) {
			return fmt.Errorf("error %v, want that of a wait which the context has ended", err)
		}
		return errors.Join(mpi.Send(c, []byte{1}, 0, goTag), finalizeAtLast(c, unbounded))
	})
}
