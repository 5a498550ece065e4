package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"gomx/internal/testlength"
	"gomx/mpi"
)

// windows are the ways to make one.
var windows = map[string]func(c *mpi.Comm, n int) (*mpi.Win[int32], error){
	"created":   func(c *mpi.Comm, n int) (*mpi.Win[int32], error) { return mpi.WinCreate(c, make([]int32, n)) },
	"allocated": mpi.WinAllocate[int32],
}

// onWindow runs f with a window of n elements at each of some ranks, over each transport.
func onWindow(t *testing.T, ranks, n int, f func(c *mpi.Comm, w *mpi.Win[int32]) error) {
	windowOver(t, over, ranks, n, f)
}

func windowOver(t *testing.T, over func(*testing.T, int, func(*mpi.Comm) error), ranks, n int, f func(c *mpi.Comm, w *mpi.Win[int32]) error) {
	for name, create := range windows {
		t.Run(name, func(t *testing.T) {
			over(t, ranks, func(c *mpi.Comm) error {
				w, err := create(c, n)
				if err != nil {
					return err
				}
				return errors.Join(f(c, w), w.Free())
			})
		})
	}
}

func TestWinPutRing(t *testing.T) {
	testlength.Long(t)
	for _, n := range []int{1, 100, 100_000} {
		onWindow(t, 4, n, func(c *mpi.Comm, w *mpi.Win[int32]) error {
			for round := range 3 {
				if err := w.Fence(); err != nil {
					return err
				}
				if err := w.Put(pattern(n, c.Rank()+round), (c.Rank()+1)%c.Size(), 0); err != nil {
					return err
				}
				if err := w.Fence(); err != nil {
					return err
				}
				if err := same(w.Mem(), pattern(n, (c.Rank()+3)%4+round)); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func TestWinGetAll(t *testing.T) {
	const n = 5000
	onWindow(t, 3, n, func(c *mpi.Comm, w *mpi.Win[int32]) error {
		copy(w.Mem(), pattern(n, c.Rank()))
		if err := w.Fence(); err != nil {
			return err
		}
		got := make([][]int32, c.Size())
		for rank := range got {
			got[rank] = make([]int32, n-rank)
			if err := w.Get(got[rank], rank, rank); err != nil {
				return err
			}
		}
		if err := w.FlushLocalAll(); err != nil {
			return err
		}
		for rank := range got {
			if err := same(got[rank], pattern(n, rank)[rank:]); err != nil {
				return err
			}
		}
		return w.Fence()
	})
}

func TestWinAccumulateFromAll(t *testing.T) {
	testlength.Long(t)
	const n = 40_000 // several pieces
	onWindow(t, 5, n, func(c *mpi.Comm, w *mpi.Win[int32]) error {
		if err := w.Fence(); err != nil {
			return err
		}
		for rank := range c.Size() {
			if err := w.Accumulate(pattern(n, c.Rank()), rank, 0, mpi.AccSum); err != nil {
				return err
			}
		}
		if err := w.Fence(); err != nil {
			return err
		}
		want := make([]int32, n)
		for rank := range c.Size() {
			for i, v := range pattern(n, rank) {
				want[i] += v
			}
		}
		return same(w.Mem(), want)
	})
}

// TestWinCounter wants every number to be drawn once.
func TestWinCounter(t *testing.T) {
	testlength.Long(t)
	const draws = 200
	onWindow(t, 4, 1, func(c *mpi.Comm, w *mpi.Win[int32]) error {
		if err := w.LockAll(); err != nil {
			return err
		}
		mine := make([]int32, draws)
		for i := range mine {
			var err error
			if mine[i], err = w.FetchAndOp(1, 0, 0, mpi.AccSum); err != nil {
				return err
			}
		}
		if err := w.UnlockAll(); err != nil {
			return err
		}
		if !slices.IsSorted(mine) {
			return fmt.Errorf("the draws of rank %d are not in order", c.Rank())
		}
		if c.Rank() != 0 {
			return mpi.Send(c, mine, 0, 0)
		}
		all := slices.Clone(mine)
		for rank := 1; rank < c.Size(); rank++ {
			if _, err := mpi.Recv(c, mine, rank, 0); err != nil {
				return err
			}
			all = append(all, mine...)
		}
		slices.Sort(all)
		for i, v := range all {
			if int(v) != i {
				return fmt.Errorf("draw %d is %d", i, v)
			}
		}
		return nil
	})
}

// TestWinExclusive changes what is no single operation under the exclusive lock.
func TestWinExclusive(t *testing.T) {
	testlength.Long(t)
	const rounds = 30
	onWindow(t, 4, 2, func(c *mpi.Comm, w *mpi.Win[int32]) error {
		for range rounds {
			if err := w.Lock(1, true); err != nil {
				return err
			}
			got := make([]int32, 2)
			if err := errors.Join(w.Get(got, 1, 0), w.Flush(1)); err != nil {
				return err
			}
			if got[0] != -got[1] {
				return fmt.Errorf("rank %d sees %v", c.Rank(), got)
			}
			next := []int32{got[0] + 1, got[1] - 1}
			if err := errors.Join(w.Put(next[:1], 1, 0), w.Put(next[1:], 1, 1), w.Unlock(1)); err != nil {
				return err
			}
		}
		if err := w.Fence(); err != nil || c.Rank() != 1 {
			return err
		}
		return same(w.Mem(), []int32{4 * rounds, -4 * rounds})
	})
}

func TestWinCompareAndSwap(t *testing.T) {
	onWindow(t, 4, 3, func(c *mpi.Comm, w *mpi.Win[int32]) error {
		if err := w.LockAll(); err != nil {
			return err
		}
		old, err := w.CompareAndSwap(0, int32(c.Rank()+1), 2, 1)
		if err != nil {
			return err
		}
		now, err := w.FetchAndOp(0, 2, 1, mpi.AccNone)
		if err != nil {
			return err
		}
		if won := old == 0; won != (now == int32(c.Rank()+1)) || now == 0 {
			return fmt.Errorf("rank %d found %d, and there is %d", c.Rank(), old, now)
		}
		return w.UnlockAll()
	})
}

func TestWinGetAccumulate(t *testing.T) {
	const n = 20_000
	onWindow(t, 2, n, func(c *mpi.Comm, w *mpi.Win[int32]) error {
		if c.Rank() == 1 {
			return nil // it computes
		}
		if err := w.Lock(1, false); err != nil {
			return err
		}
		zero, first, second := make([]int32, n), make([]int32, n), make([]int32, n)
		err := errors.Join(
			w.GetAccumulate(pattern(n, 1), first, 1, 0, mpi.AccReplace),
			w.GetAccumulate(pattern(n, 2), second, 1, 0, mpi.AccMax),
			same(first, zero), same(second, pattern(n, 1)),
			w.GetAccumulate(nil, first, 1, 0, mpi.AccNone))
		want := pattern(n, 1)
		for i, v := range pattern(n, 2) {
			want[i] = max(want[i], v)
		}
		return errors.Join(err, same(first, want), w.Unlock(1))
	})
}

// TestWinOrderAtOneTarget wants accumulates of a rank to take effect in the order of the
// calls.
func TestWinOrderAtOneTarget(t *testing.T) {
	onWindow(t, 2, 1, func(c *mpi.Comm, w *mpi.Win[int32]) error {
		if c.Rank() == 1 {
			return nil
		}
		if err := w.Lock(1, false); err != nil {
			return err
		}
		for i := range int32(100) {
			if err := errors.Join(w.Accumulate([]int32{i}, 1, 0, mpi.AccReplace), w.Accumulate([]int32{3}, 1, 0, mpi.AccProd)); err != nil {
				return err
			}
		}
		got, err := w.FetchAndOp(0, 1, 0, mpi.AccNone)
		return errors.Join(err, same([]int32{got}, []int32{297}), w.Unlock(1))
	})
}

func TestWinManyGoroutines(t *testing.T) {
	windowOver(t, overMany, 3, 64, func(c *mpi.Comm, w *mpi.Win[int32]) error {
		if err := w.LockAll(); err != nil {
			return err
		}
		var all sync.WaitGroup
		errs := make([]error, 8)
		for g := range errs {
			all.Go(func() {
				for i := range 40 {
					rank := (g + i) % c.Size()
					_, err := w.FetchAndOp(1, rank, 8*g+i%8, mpi.AccSum)
					errs[g] = errors.Join(errs[g], err, w.Accumulate([]int32{1}, rank, 8*g+i%8, mpi.AccSum), w.Flush(rank))
				}
			})
		}
		all.Wait()
		if err := errors.Join(append(errs, w.UnlockAll(), w.Fence())...); err != nil {
			return err
		}
		theirs, total := make([]int32, 64), int32(0)
		for rank := range c.Size() {
			if err := errors.Join(w.Get(theirs, rank, 0), w.Flush(rank)); err != nil {
				return err
			}
			for _, v := range theirs {
				total += v
			}
		}
		return errors.Join(same([]int32{total}, []int32{3 * 8 * 40 * 2}), w.Fence())
	})
}

// TestWinLengths has another length at each rank, and none at one.
func TestWinLengths(t *testing.T) {
	over(t, 4, func(c *mpi.Comm) error {
		w, err := mpi.WinCreate(c, make([]float64, c.Rank()*10))
		if err != nil {
			return err
		}
		for rank := range c.Size() {
			if w.Len(rank) != rank*10 {
				return fmt.Errorf("rank %d has %d elements", rank, w.Len(rank))
			}
		}
		if err := w.Fence(); err != nil {
			return err
		}
		last := c.Size() - 1
		if err := errors.Join(w.Put([]float64{float64(c.Rank())}, last, c.Rank()), w.Put(nil, 0, 0), w.Fence()); err != nil {
			return err
		}
		if c.Rank() == last {
			err = same(w.Mem()[:4], []float64{0, 1, 2, 3})
		}
		return errors.Join(err, w.Free())
	})
}

func TestWinErrors(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		w, err := mpi.WinAllocate[float64](c, 10)
		if err != nil {
			return err
		}
		one := make([]float64, 1)
		bad := errors.Join(
			wantError(w.Put(one, 0, 0), mpi.ErrWin, c.Rank()), // nothing permits it
			wantError(w.Unlock(1), mpi.ErrWin, c.Rank()),
			wantError(w.Lock(2, true), mpi.ErrRank, c.Rank()),
			wantError(w.Flush(-1), mpi.ErrRank, c.Rank()),
			w.Flush(1), w.FlushAll(), w.FlushLocal(1), w.FlushLocalAll()) // nothing to wait for
		if err := w.Fence(); err != nil {
			return err
		}
		_, errCAS := w.CompareAndSwap(0, 1, 0, 10)
		_, errFetch := w.FetchAndOp(0, 1, -1, mpi.AccSum)
		bad = errors.Join(bad,
			wantError(w.Put(one, 2, 0), mpi.ErrRank, c.Rank()),
			wantError(w.Put(one, 1, 10), mpi.ErrRange, c.Rank()),
			wantError(w.Put(make([]float64, 11), 1, 0), mpi.ErrRange, c.Rank()),
			wantError(w.Get(one, 1, -1), mpi.ErrRange, c.Rank()),
			wantError(w.Accumulate(one, 1, 10, mpi.AccSum), mpi.ErrRange, c.Rank()),
			wantError(w.Accumulate(one, 1, 0, mpi.AccBitOr), mpi.ErrOp, c.Rank()),
			wantError(w.Accumulate(one, 1, 0, 100), mpi.ErrOp, c.Rank()),
			wantError(w.GetAccumulate(one, nil, 1, 0, mpi.AccSum), mpi.ErrCount, c.Rank()),
			wantError(errCAS, mpi.ErrRange, c.Rank()),
			wantError(errFetch, mpi.ErrRange, c.Rank()),
			w.Put(one, mpi.ProcNull, 99), w.Get(one, mpi.ProcNull, 99), w.Accumulate(one, mpi.ProcNull, 99, mpi.AccSum),
			w.Lock(mpi.ProcNull, true), w.Flush(mpi.ProcNull), w.FlushLocal(mpi.ProcNull), w.Unlock(mpi.ProcNull),
			w.Fence())
		if err := errors.Join(bad, w.Lock(0, false)); err != nil {
			return err
		}
		bad = errors.Join(wantError(w.Lock(0, true), mpi.ErrWin, c.Rank()), wantError(w.Free(), mpi.ErrWin, c.Rank()), w.Unlock(0), w.Free())
		if w.Mem() != nil {
			t.Error("a window of WinAllocate that was freed still has its memory")
		}
		return errors.Join(bad, wantError(w.Put(one, 0, 0), mpi.ErrWin, c.Rank()), wantError(w.Free(), mpi.ErrWin, c.Rank()))
	})
}

func TestWinOfDifferentElements(t *testing.T) {
	world(t, 2, func(c *mpi.Comm) error {
		var err error
		if c.Rank() == 0 {
			_, err = mpi.WinCreate(c, make([]int32, 4))
		} else {
			_, err = mpi.WinCreate(c, make([]float32, 4))
		}
		if err := wantError(err, mpi.ErrMismatch, c.Rank()); err != nil {
			return err
		}
		_, err = mpi.WinCreate(c, []*int{})
		return wantError(err, mpi.ErrType, c.Rank())
	})
}

// TestWinErrorsNameTheCall: those that a window has of its communicator, too.
func TestWinErrorsNameTheCall(t *testing.T) {
	world(t, 2, func(c *mpi.Comm) error {
		w, err := mpi.WinAllocate[int64](c, 1)
		if err := errors.Join(err, w.Fence(), c.Finalize()); err != nil {
			return err
		}
		for op, call := range map[string]func() error{
			"Win.Fence": w.Fence, "Win.Free": w.Free, "Win.FlushAll": w.FlushAll, "Win.LockAll": w.LockAll,
			"Win.Put": func() error { return w.Put([]int64{1}, 0, 0) },
		} {
			if e, ok := errors.AsType[*mpi.Error](call()); !ok || e.Op != op || e.Class != mpi.ErrFinalized {
				return fmt.Errorf("%s: error %v, want one that names it", op, e)
			}
		}
		return nil
	})
}

// TestWinLargeElements: elements that no atomic of mx takes are replaced, read and compared as wholes, in the order of the calls.
func TestWinLargeElements(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		type large [200]int64
		win, err := mpi.WinAllocate[large](c, 3)
		if err != nil {
			return err
		}
		if err := win.Fence(); err != nil {
			return err
		}
		if c.Rank() == 1 {
			if err := replaceLarge(win, func(n int64) (l large) {
				for i := range l {
					l[i] = n
				}
				return l
			}); err != nil {
				return err
			}
		}
		if err := win.Fence(); err != nil {
			return err
		}
		if m := win.Mem(); c.Rank() == 0 && (m[0][199] != 7 || m[1][0] != 3 || m[2][0] != 0) {
			return fmt.Errorf("the window has %d, %d, %d", m[0][199], m[1][0], m[2][0])
		}
		return win.Free()
	})
}

func replaceLarge[T comparable](win *mpi.Win[T], of func(n int64) T) error {
	if err := win.Accumulate([]T{of(2), of(3)}, 0, 0, mpi.AccReplace); err != nil {
		return err
	}
	was := make([]T, 2)
	if err := win.GetAccumulate(nil, was, 0, 0, mpi.AccNone); err != nil {
		return err
	}
	if was[0] != of(2) || was[1] != of(3) {
		return errors.New("an accumulate was overtaken")
	}
	for _, wanted := range []int64{6, 2, 2} { // the second one is right
		if _, err := win.CompareAndSwap(of(wanted), of(7), 0, 0); err != nil {
			return err
		}
	}
	if old, err := win.FetchAndOp(of(3), 0, 1, mpi.AccReplace); err != nil || old != of(3) {
		return fmt.Errorf("FetchAndOp: %w", err)
	}
	if err := win.Accumulate([]T{of(1)}, 0, 0, mpi.AccSum); !errors.Is(err, mpi.ErrOp) {
		return fmt.Errorf("a sum of what are no numbers: %w", err)
	}
	return nil
}
