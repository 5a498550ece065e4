package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mpi"
)

// brief is a context for a call that is to be given up.
func brief(c *mpi.Comm) (*mpi.Comm, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	return c.WithContext(ctx), cancel
}

// sum is an Allreduce of 1, whose result is right.
func sum(c *mpi.Comm) error {
	one, all := []int64{1}, []int64{0}
	if err := mpi.Allreduce(c, one, all, mpi.Sum); err != nil {
		return err
	}
	if all[0] != int64(c.Size()) {
		return fmt.Errorf("the sum of ones over %d ranks of %s is %d at rank %d", c.Size(), c.Name(), all[0], c.Rank())
	}
	return nil
}

// TestFreedContextIsForgotten: what was sent on a communicator that was freed is received by no other one.
func TestFreedContextIsForgotten(t *testing.T) {
	t.Run("collective", func(t *testing.T) {
		over(t, 3, func(c *mpi.Comm) error {
			for range 3 {
				d, err := c.Dup()
				if err != nil {
					return err
				}
				if d.Rank() != 0 {
					with, cancel := brief(d)
					seven, all := []int64{7}, []int64{0}
					err := mpi.Allreduce(with, seven, all, mpi.Sum)
					if cancel(); err == nil {
						return fmt.Errorf("rank %d: rank 0 does not take part, and the sum is %d", d.Rank(), all[0])
					}
				}
				if err := errors.Join(c.Barrier(), d.Free()); err != nil {
					return err
				}
				e, err := c.Dup()
				if err != nil {
					return err
				}
				if err := errors.Join(sum(e), c.Barrier(), e.Free()); err != nil {
					return err
				}
			}
			return nil
		})
	})
	t.Run("message", func(t *testing.T) {
		over(t, 2, func(c *mpi.Comm) error {
			for round := range 3 {
				d, err := c.Dup()
				if err != nil {
					return err
				}
				if d.Rank() == 0 {
					if err := mpi.Send(d, []int{-1}, 1, 4); err != nil {
						return err
					}
				}
				if err := errors.Join(c.Barrier(), d.Free()); err != nil {
					return err
				}
				e, err := c.Dup()
				if err != nil {
					return err
				}
				if e.Rank() == 0 {
					err = mpi.Send(e, []int{round}, 1, 4)
				} else {
					in := []int{0}
					if _, err = mpi.Recv(e, in, 0, 4); err == nil && in[0] != round {
						err = fmt.Errorf("round %d received %d", round, in[0])
					}
				}
				if err := errors.Join(err, c.Barrier(), e.Free()); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// TestLateBehindManyFreed: what comes under a context when many others were freed since is not received by the communicator that
// gets the context next.
func TestLateBehindManyFreed(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		for _, length := range []int{1, 100_000} {
			if err := lateBehindManyFreed(c, length); err != nil {
				return fmt.Errorf("%d numbers: %w", length, err)
			}
		}
		return nil
	})
}

func lateBehindManyFreed(c *mpi.Comm, length int) error {
	const freed = 20
	d, err := c.Dup()
	if err != nil {
		return err
	}
	if c.Rank() == 1 {
		err = d.Free()
	}
	for range freed {
		var other *mpi.Comm
		if err == nil {
			other, err = c.Dup()
		}
		if err == nil {
			err = other.Free()
		}
	}
	if err != nil {
		return err
	}
	var late mpi.Request
	if c.Rank() == 0 {
		if late, err = mpi.Isend(d, make([]int, length), 1, 4); err == nil {
			err = d.Free()
		}
	}
	mpi.PassContexts(c, mpi.ContextPairs-freed-1)
	if err := errors.Join(err, c.Barrier()); err != nil {
		return err
	}
	e, err := c.Dup()
	if err != nil {
		return err
	}
	if mpi.ContextOf(e) != mpi.ContextOf(d) {
		return fmt.Errorf("the context is %d, not %d", mpi.ContextOf(e), mpi.ContextOf(d))
	}
	if st, some, err := e.Iprobe(mpi.AnySource, mpi.AnyTag); some || err != nil {
		return fmt.Errorf("rank %d: a message of nobody: %+v, %v", c.Rank(), st, err)
	}
	if c.Rank() == 0 {
		_, err = late.Wait()
	}
	return errors.Join(err, e.Free())
}

// TestFreeIgnoresTheContext: a communicator is freed whatever has become of the context.
func TestFreeIgnoresTheContext(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		d, err := c.Dup()
		if err != nil {
			return err
		}
		return errors.Join(d.WithContext(endedContext()).Free(), same([]int{mpi.ContextsInUse(c)}, []int{0}))
	})
}

// TestFreeBehindOperations: what is pending on a communicator that is freed goes on, and is waited for as ever; the communicator keeps its
// contexts until its last collective has ended.
func TestFreeBehindOperations(t *testing.T) {
	testlength.Long(t)
	over(t, 3, func(c *mpi.Comm) error {
		for round := range 6 {
			d, err := c.Dup()
			if err != nil {
				return err
			}
			if err := freedBehind(c, d, round); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
			if err := nothingLeftBehind(c); err != nil {
				return err
			}
		}
		return nil
	})
}

// freedBehind frees d while operations on it are pending. Rank 2 begins them when the others have freed it.
func freedBehind(c, d *mpi.Comm, round int) error {
	if c.Rank() == 2 {
		for other := range 2 {
			if _, err := mpi.Recv(c, make([]byte, 1), other, goTag); err != nil {
				return err
			}
		}
	}
	length := 1 + round%2*20_000
	next, before := (c.Rank()+1)%3, (c.Rank()+2)%3
	in, out := make([]int64, length), filled(length, int64(c.Rank()))
	sum, last := make([]int64, length), filled(length, int64(c.Rank()))
	recv, err := mpi.Irecv(d, in, before, 5)
	if err != nil {
		return err
	}
	send, err := mpi.Isend(d, out, next, 5)
	if err != nil {
		return err
	}
	first, err := mpi.Iallreduce(d, out, sum, mpi.Sum)
	if err != nil {
		return err
	}
	second, err := mpi.Ibcast(d, last, 2)
	if err != nil {
		return err
	}
	if err := d.Free(); err != nil {
		return err
	}
	if c.Rank() != 2 {
		if err := errors.Join(same([]int{mpi.ContextsInUse(c)}, []int{1}), mpi.Send(c, []byte{1}, 2, goTag)); err != nil {
			return err
		}
	}
	if err := errors.Join(wantError(d.Barrier(), mpi.ErrComm, d.Rank()), wantError(d.Free(), mpi.ErrComm, d.Rank())); err != nil {
		return err
	}
	if err := mpi.WaitAll([]mpi.Request{second, recv, first, send}, nil); err != nil {
		return err
	}
	return errors.Join(same([]int{mpi.ContextsInUse(c)}, []int{0}), same(in, filled(length, int64(before))), same(sum, filled(length, 3)), same(last, filled(length, 2)))
}

// TestFreeBehindACollectiveThatFails: the collective fails as it would on a communicator that was not freed, and the contexts are given back.
func TestFreeBehindACollectiveThatFails(t *testing.T) {
	unchecked(t)
	over(t, 2, func(c *mpi.Comm) error {
		d, err := c.Dup()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		q, err := mpi.Iallreduce(d.WithContext(ctx), []int64{1}, []int64{0}, mpi.Sum)
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			if err := d.Free(); err != nil {
				return err
			}
		}
		if cancel(); c.Rank() == 1 {
			err = d.Free()
		}
		if _, gaveUp := q.Wait(); gaveUp != nil && !errors.Is(gaveUp, mpi.ErrOther) {
			err = errors.Join(err, fmt.Errorf("error %w, want that of the context or none", gaveUp))
		}
		return errors.Join(err, c.Barrier(), same([]int{mpi.ContextsInUse(c)}, []int{0}), sum(c))
	})
}

// TestFreeKeepsNothingOfWhatNobodyReceived: messages on freed communicators that nobody has received are dropped, and nothing counts
// them for ever.
func TestFreeKeepsNothingOfWhatNobodyReceived(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		for i := range 100 {
			d, err := c.Dup()
			if err == nil {
				err = mpi.Send(d, []int{i}, 1-c.Rank(), 1)
			}
			if err == nil {
				err = d.Free()
			}
			if err != nil {
				return err
			}
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		if kept := mpi.ClassesCounted(c); kept > 50 {
			return fmt.Errorf("counters of %d classes of messages are kept", kept)
		}
		return c.Barrier()
	})
}

// TestContextOfAPendingReceive: while a receive of a freed communicator is pending, no other communicator gets its context.
func TestContextOfAPendingReceive(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		freed, err := c.Dup()
		if err != nil {
			return err
		}
		context, old := mpi.ContextOf(freed), []int{-1}
		var q mpi.Request
		if c.Rank() == 0 {
			if q, err = mpi.Irecv(freed, old, mpi.AnySource, 5); err != nil {
				return err
			}
		}
		if err := errors.Join(freed.Free(), c.Barrier()); err != nil {
			return err
		}
		mpi.PassContexts(c, mpi.ContextPairs-3)
		for range 5 { // the context's turn is among these
			d, err := c.Dup()
			if err != nil {
				return err
			}
			if mpi.ContextOf(d) == context {
				return fmt.Errorf("context %d is given out again", context)
			}
			got := []int{-1}
			if _, err := mpi.Sendrecv(d, []int{d.Rank()}, 1-d.Rank(), 5, got, 1-d.Rank(), 5); err != nil || got[0] != 1-d.Rank() {
				return fmt.Errorf("received %d: %w", got[0], err)
			}
			if err := d.Free(); err != nil {
				return err
			}
		}
		if c.Rank() == 0 {
			if _, done, err := q.Test(); done || err != nil {
				return fmt.Errorf("the old receive has %d: %v, %w", old[0], done, err)
			}
			return q.Cancel()
		}
		return nil
	})
}

// TestFreedBeforeOthersCome: a rank that has given up a collective, freed its communicator and made others still takes what a rank sends that
// comes to the collective only then, and nothing once all have freed the communicator.
func TestFreedBeforeOthersCome(t *testing.T) {
	unchecked(t)
	over(t, 2, func(c *mpi.Comm) error {
		d, err := c.Dup()
		if err != nil {
			return err
		}
		made := []*mpi.Comm{c}
		others := func() error {
			for i := range 4 { // of the communicator that d was made of, and of others
				e, err := made[i].Dup()
				if err != nil {
					return err
				}
				made = append(made, e)
			}
			return nil
		}
		b := make([]int64, 2*long)
		if c.Rank() == 0 {
			if err := mpi.Alltoall(d.WithContext(endedContext()), b, b); !errors.Is(err, mpi.ErrGivenUp) {
				return fmt.Errorf("error %v, want %w", err, mpi.ErrGivenUp)
			}
			err = d.Free()
		}
		if err := errors.Join(err, others()); err != nil {
			return err
		}
		if c.Rank() == 1 {
			if err := mpi.Alltoall(d, b, b); err != nil && !errors.Is(err, mpi.ErrOther) {
				return err
			}
			err = d.Free()
		}
		if err := errors.Join(err, others(), same([]int{mpi.LeftOfFreed(c)}, []int{0}), c.Barrier()); err != nil {
			return err
		}
		for _, e := range made[1:] {
			err = errors.Join(err, e.Free())
		}
		return err
	})
}

// TestManyFreedBeforeOthersCome: what is left of many freed communicators goes, though one of the first stays in use at one of its ranks.
func TestManyFreedBeforeOthersCome(t *testing.T) {
	unchecked(t)
	over(t, 3, func(c *mpi.Comm) error {
		half, err := c.Split(min(c.Rank(), 1), 0) // ranks 1 and 2 are together
		if err != nil {
			return err
		}
		const n = 20
		var last *mpi.Comm
		b := make([]int64, 2*long)
		for i := range n {
			d, err := half.Dup()
			if err != nil {
				return err
			}
			if c.Rank() == 2 {
				if err := mpi.Alltoall(d.WithContext(endedContext()), b[:2*long], b[:2*long]); !errors.Is(err, mpi.ErrGivenUp) {
					return fmt.Errorf("error %v, want %w", err, mpi.ErrGivenUp)
				}
			}
			if i == 2 && c.Rank() == 1 {
				last = d
				continue
			}
			if err := d.Free(); err != nil {
				return err
			}
		}
		for range n + 1 {
			d, err := c.Dup() // of all ranks, and not only those of half
			if err != nil {
				return err
			}
			if err := d.Free(); err != nil {
				return err
			}
		}
		want := []int{0, 0, 1}
		if err := same([]int{mpi.LeftOfFreed(c)}, want[c.Rank():][:1]); err != nil {
			return err
		}
		if last != nil {
			err = last.Free()
		}
		return errors.Join(err, half.Free(), c.Barrier())
	})
}
