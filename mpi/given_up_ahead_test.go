package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mpi"
)

// TestArrivalUnderTheLock: what a nonblocking collective waits for may arrive in a call that its own goroutine makes while the
// collective is locked. It goes on when that is unlocked.
func TestArrivalUnderTheLock(t *testing.T) {
	unchecked(t)
	over(t, 2, func(c *mpi.Comm) error {
		if err := c.Barrier(); err != nil { // all are connected
			return err
		}
		buf := filled(100, int64(c.Rank()))
		if c.Rank() == 0 {
			if _, err := mpi.Recv(c, make([]byte, 1), 1, goTag); err != nil {
				return err
			}
			return errors.Join(mpi.Bcast(c, buf, 0), mpi.Send(c, []byte{1}, 1, goTag))
		}
		q, err := mpi.Ibcast(c, buf, 0)
		if err != nil {
			return err
		}
		err = mpi.WithCollectivesLocked(c, func() error {
			if n := mpi.Backgrounds(c); n != 1 {
				return fmt.Errorf("%d collectives are under way, want 1", n)
			}
			if err := mpi.Send(c, []byte{1}, 0, goTag); err != nil {
				return err
			}
			return second(mpi.Recv(c, make([]byte, 1), 0, goTag))
		})
		return errors.Join(err, second(q.Wait()), all(buf, 0, c))
	})
}

// TestProcessesGiveUpReductionsThatArrive: a rank gives up reductions, whose scratch memory lies in the arena, while their messages
// arrive.
func TestProcessesGiveUpReductionsThatArrive(t *testing.T) {
	testlength.Long(t)
	unchecked(t)
	jobs(t, "hasty reductions", 2)
}

func init() {
	programs["hasty reductions"] = func(world *mpi.Comm) error {
		own := rand.New(rand.NewPCG(1, uint64(world.Rank())))
		for range 200 {
			c, cancel := world, func() {}
			time.Sleep(time.Duration(own.IntN(500)) * time.Microsecond)
			if world.Rank() == 1 {
				var ctx context.Context
				ctx, cancel = context.WithTimeout(context.Background(), time.Duration(own.IntN(1000))*time.Microsecond)
				c = world.WithContext(ctx)
			}
			buf := make([]int64, 40_000)
			q, err := mpi.Iallreduce(c, buf, buf, mpi.Sum)
			if err == nil {
				_, err = q.Wait()
			}
			cancel()
			if err != nil && !errors.Is(err, mpi.ErrOther) {
				return err
			}
		}
		return nil
	}
}

// TestFarAhead: a rank that gives up more collectives than it keeps the remains of, before another begins the first of them, still
// receives what that sends for each, and then keeps nothing.
func TestFarAhead(t *testing.T) {
	testlength.Long(t)
	unchecked(t) // rank 0 would fail as well
	over(t, 2, func(c *mpi.Comm) error {
		if err := c.Barrier(); err != nil { // all are connected
			return err
		}
		if c.Rank() == 1 {
			if err := giveUpReductions(c, mpi.LeavingsKept+50); err != nil {
				return err
			}
			if err := mpi.Send(c, []byte{1}, 0, goTag); err != nil {
				return err
			}
		} else {
			if _, err := mpi.Recv(c, make([]byte, 1), 1, goTag); err != nil {
				return err
			}
			for i := range mpi.LeavingsKept + 50 {
				if err := mpi.Reduce(c, make([]int64, 20_000), nil, mpi.Sum, 1); err != nil {
					return fmt.Errorf("reduction %d: %w", i, err)
				}
			}
		}
		return nothingLeftBehind(c)
	})
}

// TestAllGiveUp: ranks that all give up the same collectives wait for nothing of each other afterwards, and keep nothing.
func TestAllGiveUp(t *testing.T) {
	testlength.Long(t)
	unchecked(t)
	rounds := 150
	if testing.Short() {
		rounds = 60
	}
	over(t, 3, func(c *mpi.Comm) error {
		if err := c.Barrier(); err != nil { // all are connected
			return err
		}
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		for range rounds {
			// Several messages go to the same rank. Where all have come already, the collective is complete.
			err := mpi.Allreduce(c.WithContext(ended), make([]int64, 60_000), make([]int64, 60_000), mpi.Sum)
			if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, mpi.ErrOther) {
				return err
			}
			q, err := mpi.Iallgather(c.WithContext(ended), make([]int64, 20_000), make([]int64, 60_000))
			if err == nil {
				_, err = q.Wait()
			}
			if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, mpi.ErrOther) {
				return err
			}
		}
		return nothingLeftBehind(c)
	})
}

// giveUpReductions has the root of reductions give them up.
func giveUpReductions(c *mpi.Comm, n int) error {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for range n {
		buf := make([]int64, 20_000)
		q, err := mpi.Ireduce(c.WithContext(ended), buf, buf, mpi.Sum, c.Rank())
		if err == nil {
			_, err = q.Wait()
		}
		if !errors.Is(err, context.Canceled) {
			return fmt.Errorf("error %v, want that of the context", err)
		}
	}
	return nil
}

// nothingLeftBehind makes collectives until no rank keeps remains of earlier ones.
func nothingLeftBehind(c *mpi.Comm) error {
	err := until(func() error {
		for range 64 {
			if err := sum(c); err != nil {
				return err
			}
		}
		left := []int64{int64(mpi.Leavings(c))}
		if err := mpi.Allreduce(c, left, left, mpi.Max); err != nil {
			return err
		}
		if left[0] != 0 {
			return fmt.Errorf("%d collectives have left something behind still", left[0])
		}
		return nil
	})
	return errors.Join(err, c.Barrier())
}

// TestFreeBehindAGivenUpCollective: a rank gives up a collective, frees the communicator, and goes on. Another that comes to the
// collective later ends it, though the first makes no more calls of that communicator.
func TestFreeBehindAGivenUpCollective(t *testing.T) {
	testlength.Long(t)
	unchecked(t)
	const n = 100_000 // of a part: its sender waits for the receiver
	calls := map[string]func(c *mpi.Comm, a, b []int64) error{
		"Alltoall":  func(c *mpi.Comm, a, b []int64) error { return mpi.Alltoall(c, a, b) },
		"Allreduce": func(c *mpi.Comm, a, b []int64) error { return mpi.Allreduce(c, a, b, mpi.Sum) },
		"Reduce":    func(c *mpi.Comm, a, b []int64) error { return mpi.Reduce(c, a, b, mpi.Sum, 0) },
		"Gather":    func(c *mpi.Comm, a, b []int64) error { return mpi.Gather(c, a[:n], b, 0) },
		"Iallgather": func(c *mpi.Comm, a, b []int64) error {
			q, err := mpi.Iallgather(c, a[:n], b)
			if err != nil {
				return err
			}
			return second(q.Wait())
		},
	}
	next := map[string]func(c *mpi.Comm) error{
		"Barrier": (*mpi.Comm).Barrier,
		"Dup":     func(c *mpi.Comm) error { return second(c.Dup()) },
		"return":  func(*mpi.Comm) error { return nil }, // to Finalize
	}
	for after, then := range next {
		for name, call := range calls {
			t.Run(name+" and "+after, func(t *testing.T) {
				freed := make(chan struct{}, 1)
				overMany(t, 2, func(c *mpi.Comm) error {
					a, b := make([]int64, n*c.Size()), make([]int64, n*c.Size())
					d, err := c.Dup()
					if err != nil {
						return err
					}
					if err := c.Barrier(); err != nil {
						return err
					}
					if c.Rank() == 0 {
						err := giveUpAndFree(c, d, func(with *mpi.Comm) error { return call(with, a, b) })
						freed <- struct{}{}
						if err != nil {
							return err
						}
					} else {
						<-freed
						_ = call(d, a, b) // well, if the other had sent its part before it gave up
					}
					return then(c)
				})
			})
		}
	}
}

// giveUpAndFree gives up a collective on d to which the other rank has not come, and frees d and then other communicators.
func giveUpAndFree(c, d *mpi.Comm, call func(with *mpi.Comm) error) error {
	with, cancel := brief(d)
	defer cancel()
	if err := call(with); err == nil {
		return errors.New("a collective to which another rank has not come ends well")
	}
	if err := d.Free(); err != nil {
		return err
	}
	for range 20 {
		e, err := c.Self().Dup()
		if err != nil {
			return err
		}
		if err := e.Free(); err != nil {
			return err
		}
	}
	return nil
}

// TestGivenUpDupsLeaveNothing: one rank gives up most of many Dups, at any point of them, and the others have no messages of those for ever.
func TestGivenUpDupsLeaveNothing(t *testing.T) {
	testlength.Long(t)
	unchecked(t)
	calls := map[string]func(c *mpi.Comm) (*mpi.Comm, error){
		"Dup":   (*mpi.Comm).Dup,
		"Split": func(c *mpi.Comm) (*mpi.Comm, error) { return c.Split(c.Rank()%2, 0) },
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			over(t, 3, func(c *mpi.Comm) error {
				own := rand.New(rand.NewPCG(1, uint64(c.Rank())))
				most := 0
				for range 300 {
					with, cancel := c, context.CancelFunc(func() {})
					if c.Rank() == 0 {
						var ctx context.Context
						ctx, cancel = context.WithTimeout(context.Background(), time.Duration(own.IntN(100))*time.Microsecond)
						with = c.WithContext(ctx)
					}
					d, err := call(with)
					cancel()
					if err == nil {
						err = d.Free()
					} else if c.Rank() == 0 {
						err = nil
					}
					if err != nil && !errors.Is(err, mpi.ErrProcFailed) && !errors.Is(err, mpi.ErrOther) {
						return err
					}
					if err := c.Barrier(); err != nil {
						return err
					}
					most = max(most, mpi.Unexpected(c))
				}
				if most > 100 {
					return fmt.Errorf("rank %d had up to %d messages that nothing receives", c.Rank(), most)
				}
				return nil
			})
		})
	}
}
