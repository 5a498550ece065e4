package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gomx/mpi"
)

// windowBlockings are the calls that take the context of a window. Rank 0 makes each while a Fence permits all accesses. Where it waits for a
// lock, rank 1 has that.
func windowBlockings() (list []blocking) {
	memory := make([]int64, long)
	result := make([]int64, long)
	for name, call := range map[string]func(w *mpi.Win[int64]) error{
		"Win.Fence":               func(w *mpi.Win[int64]) error { return w.Fence() },
		"Win.Fence of a Put":      func(w *mpi.Win[int64]) error { return errors.Join(w.Put(memory, 1, 0), w.Fence()) },
		"Win.Put and Flush":       func(w *mpi.Win[int64]) error { return errors.Join(w.Put(memory, 1, 0), w.Flush(1)) },
		"Win.Flush":               func(w *mpi.Win[int64]) error { return errors.Join(w.Get(result, 1, 0), w.Flush(1)) },
		"Win.FlushAll":            func(w *mpi.Win[int64]) error { return errors.Join(w.Put(memory, 1, 0), w.FlushAll()) },
		"Win.FlushLocal":          func(w *mpi.Win[int64]) error { return errors.Join(w.Get(result, 1, 0), w.FlushLocal(1)) },
		"Win.FlushLocalAll":       func(w *mpi.Win[int64]) error { return errors.Join(w.Put(memory, 1, 0), w.FlushLocalAll()) },
		"Win.Accumulate":          func(w *mpi.Win[int64]) error { return w.Accumulate(memory, 1, 0, mpi.AccSum) },
		"Win.GetAccumulate":       func(w *mpi.Win[int64]) error { return w.GetAccumulate(memory, result, 1, 0, mpi.AccSum) },
		"Win.FetchAndOp":          func(w *mpi.Win[int64]) error { return second(w.FetchAndOp(1, 1, 0, mpi.AccSum)) },
		"Win.CompareAndSwap":      func(w *mpi.Win[int64]) error { return second(w.CompareAndSwap(0, 1, 1, 0)) },
		"Win.Put of very many":    func(w *mpi.Win[int64]) error { return veryMany(w.Put) },
		"Win.Get of very many":    func(w *mpi.Win[int64]) error { return veryMany(w.Get) },
		"Win.Lock":                func(w *mpi.Win[int64]) error { return w.Lock(1, true) },
		"Win.LockAll":             func(w *mpi.Win[int64]) error { return w.LockAll() },
		"Win.Lock of a held one":  func(w *mpi.Win[int64]) error { return w.Lock(1, true) },
		"Win.LockAll of held one": func(w *mpi.Win[int64]) error { return w.LockAll() },
	} {
		list = append(list, blocking{name: name, collective: strings.HasPrefix(name, "Win.Fence"), prepare: windowed(name, call)})
	}
	return list
}

// windowed prepares a call on a window. Whatever has become of it, the window is of use afterwards.
func windowed(name string, call func(w *mpi.Win[int64]) error) func(c *mpi.Comm) (func(c *mpi.Comm) error, func() error, error) {
	return func(c *mpi.Comm) (func(c *mpi.Comm) error, func() error, error) {
		w, err := mpi.WinAllocate[int64](c, long)
		if err != nil {
			return nil, nil, err
		}
		holds := c.Rank() == 1 && (name == "Win.Lock of a held one" || name == "Win.LockAll of held one")
		if err = w.Fence(); err == nil && holds {
			err = w.Lock(1, true)
		}
		var got error = errNotCalled
		end := func() error {
			if holds {
				err = errors.Join(err, w.Unlock(1))
			}
			switch {
			case got != nil:
			case name == "Win.Lock", name == "Win.Lock of a held one":
				err = errors.Join(err, w.Unlock(1))
			case name == "Win.LockAll", name == "Win.LockAll of held one":
				err = errors.Join(err, w.UnlockAll())
			}
			return errors.Join(err, usable(c, w), w.Free())
		}
		return func(c *mpi.Comm) error {
			got = call(w.WithContext(mpi.ContextOfCalls(c)))
			if e, ok := errors.AsType[*mpi.Error](got); ok && e.Op == "Win.FlushAll" && strings.HasPrefix(name, "Win.Fence") {
				return fmt.Errorf("the error of a Fence is that of %s: %v", e.Op, got)
			}
			return got
		}, end, err
	}
}

var errNotCalled = errors.New("the call was not made")

// usable wants both ranks to get the lock of rank 1, and to read there what was written last.
func usable(c *mpi.Comm, w *mpi.Win[int64]) error {
	if err := w.FlushAll(); err != nil { // of what was given up
		return err
	}
	in := []int64{0}
	err := errors.Join(
		c.Barrier(), w.Lock(1, true), w.Put([]int64{7 + int64(c.Rank())}, 1, c.Rank()), w.Unlock(1),
		c.Barrier(), w.Lock(1, false), w.Get(in, 1, 1-c.Rank()), w.Unlock(1))
	return errors.Join(err, same(in, []int64{8 - int64(c.Rank())}))
}

// veryMany makes more accesses than may be pending, each of so many elements that it has a request.
func veryMany(access func(b []int64, rank, offset int) error) error {
	b := make([]int64, long/64)
	for range 1500 {
		if err := access(b, 1, 0); err != nil {
			return err
		}
	}
	return nil
}

// contextEnded reports whether a call has ended with its context.
func contextEnded(err error) bool { return errors.Is(err, context.DeadlineExceeded) }
