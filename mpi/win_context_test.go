package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mpi"
)

func endedContext() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// TestWinUndoesWithoutItsContext: what gives something back does so, whatever has become of the context.
func TestWinUndoesWithoutItsContext(t *testing.T) {
	over(t, 3, func(c *mpi.Comm) error {
		w, err := mpi.WinAllocate[int64](c, 10)
		if err != nil {
			return err
		}
		late := w.WithContext(endedContext())
		next := (c.Rank() + 1) % c.Size()
		for range 5 {
			one := errors.Join(w.Lock(next, true), w.Accumulate([]int64{1}, next, 3, mpi.AccSum), late.Unlock(next))
			if err := errors.Join(one, w.LockAll(), late.UnlockAll(), w.Lock(0, true), late.Unlock(0)); err != nil {
				return err
			}
		}
		if err := errors.Join(w.Fence(), same(w.Mem()[3:4], []int64{5}), w.Fence()); err != nil {
			return err
		}
		return late.Free()
	})
}

// TestWinLockAllIsAllOrNothing: whoever does not get all locks keeps none, and can try again.
func TestWinLockAllIsAllOrNothing(t *testing.T) {
	over(t, 3, func(c *mpi.Comm) error {
		w, err := mpi.WinAllocate[int64](c, 1)
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			err = w.Lock(2, true)
		}
		if err := errors.Join(err, c.Barrier()); err != nil {
			return err
		}
		if c.Rank() == 1 {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
			defer cancel()
			if err := w.WithContext(ctx).LockAll(); !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("LockAll beside an exclusive lock: %v", err)
			}
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		if c.Rank() == 2 { // rank 0 holds its lock still, and nobody another one
			ctx, cancel := context.WithTimeout(context.Background(), bound/2)
			defer cancel()
			for rank := range 2 {
				err = errors.Join(err, w.WithContext(ctx).Lock(rank, true), w.Unlock(rank))
			}
		}
		if err := errors.Join(err, c.Barrier()); err != nil {
			return err
		}
		if c.Rank() == 0 {
			err = w.Unlock(2)
		}
		return errors.Join(err, w.LockAll(), w.UnlockAll(), w.Free())
	})
}

// giveUpEach has each rank give up the call in turn. The communicator is as good as before. all says whether all depend on a rank.
func giveUpEach(c *mpi.Comm, op string, all func(giver int) bool, call func(ctx context.Context) error) error {
	for giver := range c.Size() {
		err := errors.Join(giveUpBy(giver, c, op, all(giver), call), sum(c), c.Barrier(), sum(c))
		if err != nil {
			return fmt.Errorf("%s that rank %d has given up: %w", op, giver, err)
		}
	}
	return nil
}

// giveUpBy has a rank give up the call before the others make it. Theirs end with an error that names it, if they all depend on it.
func giveUpBy(giver int, c *mpi.Comm, op string, all bool, call func(ctx context.Context) error) error {
	if err := c.Barrier(); err != nil {
		return err
	}
	if c.Rank() != giver {
		if _, err := mpi.Recv(c, make([]byte, 1), giver, goTag); err != nil {
			return err
		}
		return refusedFor(call(context.Background()), op, giver, all)
	}
	err := call(endedContext())
	if e, ok := errors.AsType[*mpi.Error](err); !ok || e.Op != op || !errors.Is(err, context.Canceled) {
		return fmt.Errorf("error %v, want one of %s that says that the context has ended", err, op)
	}
	for other := range c.Size() {
		if other == giver {
			continue
		}
		if err := mpi.Send(c, []byte{1}, other, goTag); err != nil {
			return err
		}
	}
	return nil
}

// refusedFor says what is wrong with the error of a call that another rank has given up.
func refusedFor(err error, op string, giver int, must bool) error {
	if err == nil && !must {
		return nil
	}
	if e, ok := errors.AsType[*mpi.Error](err); !ok || e.Op != op || e.Peer != giver || e.Class != mpi.ErrOther {
		return fmt.Errorf("error %v, want one of %s that names rank %d", err, op, giver)
	}
	return nil
}

func always(int) bool { return true }

// ofRoot is for what ranks tell each other up a tree: only who has given up at its root is missed by all.
func ofRoot(giver int) bool { return giver == 0 }

// TestWinThatOneGivesUp: a window that one rank has given up is made at none, and all have called one collective.
func TestWinThatOneGivesUp(t *testing.T) {
	over(t, 5, func(c *mpi.Comm) error {
		return errors.Join(
			giveUpEach(c, "WinAllocate", always, func(ctx context.Context) error {
				return second(mpi.WinAllocate[int64](c.WithContext(ctx), 4))
			}),
			giveUpEach(c, "WinCreate", always, func(ctx context.Context) error {
				return second(mpi.WinCreate(c.WithContext(ctx), make([]int64, 4)))
			}))
	})
}

// TestWinIsMadeAtAllOrNone: whenever the contexts end, no rank has a window that another has given up.
func TestWinIsMadeAtAllOrNone(t *testing.T) {
	testlength.Long(t)
	const rounds = 300
	over(t, 3, func(c *mpi.Comm) error {
		for round := range rounds {
			if err := c.Barrier(); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(round*(c.Rank()+1))*time.Microsecond)
			w, err := mpi.WinAllocate[int64](c.WithContext(ctx), 1)
			cancel()
			made := []int{0}
			if err == nil {
				made[0] = 1
			}
			if err := mpi.Allreduce(c, made, made, mpi.Sum); err != nil {
				return err
			}
			switch made[0] {
			case 0:
			case c.Size():
				if err := w.WithContext(context.Background()).Free(); err != nil {
					return err
				}
			default:
				return fmt.Errorf("round %d: %d ranks have a window; rank %d: %v", round, made[0], c.Rank(), err)
			}
		}
		return nil
	})
}

// TestWinThatOneCanNotAllocate: the others don't wait for it.
func TestWinThatOneCanNotAllocate(t *testing.T) {
	over(t, 3, func(c *mpi.Comm) error {
		n, class := 4, mpi.ErrMismatch
		if c.Rank() == 1 {
			n, class = 1<<(bits.UintSize-3), mpi.ErrCount // its bytes are more than an int holds: 0
		}
		_, err := mpi.WinAllocate[int64](c, n)
		return errors.Join(wantError(err, class, c.Rank()), sum(c))
	})
}

// TestFenceThatOneGivesUp: the window is as good as before.
func TestFenceThatOneGivesUp(t *testing.T) {
	over(t, 5, func(c *mpi.Comm) error {
		w, err := mpi.WinAllocate[int64](c, 1)
		if err != nil {
			return err
		}
		err = giveUpEach(c, "Win.Fence", ofRoot, func(ctx context.Context) error { return w.WithContext(ctx).Fence() })
		next := (c.Rank() + 1) % c.Size()
		before := (c.Rank() + c.Size() - 1) % c.Size()
		err = errors.Join(err, w.Fence(), w.Put([]int64{int64(c.Rank())}, next, 0), w.Fence())
		return errors.Join(err, same(w.Mem(), []int64{int64(before)}), w.Free())
	})
}

// TestFinalizeThatOneGivesUp: the world stays, and all may call it again.
func TestFinalizeThatOneGivesUp(t *testing.T) {
	over(t, 3, func(c *mpi.Comm) error {
		err := giveUpBy(0, c, "Finalize", true, func(ctx context.Context) error { return c.WithContext(ctx).Finalize() })
		return errors.Join(err, sum(c), c.Finalize())
	})
}

// TestFenceThatGivesUpItsPut: no rank's Fence succeeds before the operations are complete that it stands for, though another rank has not waited
// for them.
func TestFenceThatGivesUpItsPut(t *testing.T) {
	over(t, 3, func(c *mpi.Comm) error {
		const n, tries = 1 << 21, 20
		w, err := mpi.WinAllocate[int64](c, n)
		if err != nil {
			return err
		}
		src, got := make([]int64, n), make([]int64, 1)
		for i := range int64(tries) {
			if err := w.Fence(); err != nil {
				return err
			}
			var fence error
			if c.Rank() == 1 {
				src[n-1] = i + 1
				if err := w.Put(src, 0, 0); err != nil {
					return err
				}
				fence = w.WithContext(endedContext()).Fence()
			} else if fence = w.Fence(); fence == nil {
				if err := errors.Join(w.Get(got, 0, n-1), w.Flush(0), same(got, []int64{i + 1})); err != nil {
					return fmt.Errorf("behind a Fence without an error: %w", err)
				}
			}
			if fence != nil && !errors.Is(fence, context.Canceled) && !strings.Contains(fence.Error(), "at rank 1") {
				return fence
			}
			if err := errors.Join(w.Flush(0), c.Barrier()); err != nil {
				return err
			}
		}
		return w.Free()
	})
}
