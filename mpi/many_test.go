package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"gomx/mpi"
)

// TestRequestStaysInRegisters: the compiler passes values of up to four words in up to four fields in registers, and
// all others through memory.
func TestRequestStaysInRegisters(t *testing.T) {
	r := reflect.TypeFor[mpi.Request]()
	if words := r.Size() / reflect.TypeFor[uintptr]().Size(); words > 4 || r.NumField() > 4 {
		t.Errorf("a request has %d words in %d fields, there may be 4", words, r.NumField())
	}
}

// mixed begins requests of all kinds: a rank sends to itself what they receive.
func mixed(c *mpi.Comm, short, odd []byte, in []int32) (reqs []mpi.Request, err error) {
	self := c.Rank()
	keep := func(q mpi.Request, e error) {
		reqs, err = append(reqs, q), errors.Join(err, e)
	}
	keep(mpi.Irecv(c, short, self, 1)) // 0: too short
	keep(mpi.Irecv(c, in, self, 2))    // 1: whole
	keep(mpi.Irecv(c, in, mpi.ProcNull, 3))
	keep(mpi.Isend(c, []byte{1, 2, 3}, mpi.ProcNull, 3))
	reqs = append(reqs, mpi.Request{})            // 4: empty
	keep(mpi.Irecv(c, make([]int32, 4), self, 5)) // 5: half an element
	keep(mpi.Irecv(c, odd, self, 6))              // 6: cancelled
	err = errors.Join(err, reqs[6].Cancel())
	keep(c.Ibarrier()) // 7
	keep(mpi.Isend(c, []byte{1, 2, 3}, self, 1))
	keep(mpi.Isend(c, []int32{7, 8}, self, 2))
	keep(mpi.Issend(c, []byte{1, 2, 3}, self, 5))
	return reqs, err
}

// checkMixed looks at how they have ended.
func checkMixed(sts []mpi.Status, self int) error {
	for i, want := range []struct {
		source, bytes, count int
		class                error
		cancelled            bool
	}{
		{self, 2, 2, mpi.ErrTruncate, false}, {self, 8, 2, nil, false}, {mpi.ProcNull, 0, 0, nil, false},
		{mpi.AnySource, 0, 0, nil, false}, {mpi.AnySource, 0, 0, nil, false}, {self, 3, 0, mpi.ErrType, false},
		{mpi.AnySource, 0, 0, nil, true}, {mpi.AnySource, 0, 0, nil, false}, {mpi.AnySource, 0, 0, nil, false},
		{mpi.AnySource, 0, 0, nil, false}, {mpi.AnySource, 0, 0, nil, false},
	} {
		st := sts[i]
		if st.Source != want.source || st.Bytes != want.bytes || st.Count != want.count || !errors.Is(st.Err, want.class) || st.Cancelled != want.cancelled {
			return fmt.Errorf("request %d: %+v, want %+v", i, st, want)
		}
	}
	return nil
}

// TestWaitAllOfEveryKind: each request gets its own status, the error is the first, and all are empty afterwards.
func TestWaitAllOfEveryKind(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		for _, wait := range []func([]mpi.Request, []mpi.Status) error{mpi.WaitAll, func(reqs []mpi.Request, sts []mpi.Status) error {
			for {
				if done, err := mpi.TestAll(reqs, sts); done {
					return err
				}
			}
		}} {
			reqs, err := mixed(c, make([]byte, 2), make([]byte, 3), make([]int32, 2))
			if err != nil {
				return err
			}
			sts := make([]mpi.Status, len(reqs))
			if err := wantError(wait(reqs, sts), mpi.ErrTruncate, c.Rank()); err != nil {
				return err
			}
			if err := checkMixed(sts, c.Rank()); err != nil {
				return err
			}
			if slices.ContainsFunc(reqs, func(q mpi.Request) bool { return q != mpi.Request{} }) {
				return fmt.Errorf("a request is not empty: %+v", reqs)
			}
		}
		return nil
	})
}

// TestWaitSomeOfEveryKind: all but the empty one are reported, each once.
func TestWaitSomeOfEveryKind(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		reqs, err := mixed(c, make([]byte, 2), make([]byte, 3), make([]int32, 2))
		if err != nil {
			return err
		}
		sts := make([]mpi.Status, len(reqs))
		sts[4].Source = mpi.AnySource // of the empty request nothing is reported
		count := 0
		for {
			done, err := mpi.WaitSome(reqs, nil)
			if i := slices.IndexFunc(done, func(d mpi.Completion) bool { return d.Status.Err != nil }); (i >= 0) != (err != nil) {
				return fmt.Errorf("%+v, %w", done, err)
			}
			if len(done) == 0 {
				break
			}
			for _, d := range done {
				sts[d.Index] = d.Status
				count++
			}
		}
		if count != len(reqs)-1 {
			return fmt.Errorf("%d of %d requests", count, len(reqs)-1)
		}
		return checkMixed(sts, c.Rank())
	})
}

// TestWaitAllUntilItsContextEnds: what is complete is collected, the rest stays.
func TestWaitAllUntilItsContextEnds(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		with := c.WithContext(ctx)
		in := make([]int, 2)
		var reqs [2]mpi.Request
		for i := range reqs {
			var err error
			if reqs[i], err = mpi.Irecv(with, in[i:i+1], c.Rank(), i); err != nil {
				return err
			}
		}
		if err := mpi.Send(c, []int{5}, c.Rank(), 1); err != nil {
			return err
		}
		cancel()
		if err := mpi.WaitAll(reqs[:], nil); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("%w, want that of the context", err)
		}
		if reqs[0] == (mpi.Request{}) || reqs[1] != (mpi.Request{}) || in[1] != 5 {
			return fmt.Errorf("%+v, %v", reqs, in)
		}
		return reqs[0].Free()
	})
}

// TestWaitAllOfTwoRanks: ranks of one process may hand their requests to one goroutine.
func TestWaitAllOfTwoRanks(t *testing.T) {
	theirs, done := make(chan mpi.Request, 1), make(chan struct{})
	world(t, 2, func(c *mpi.Comm) error {
		in := []int{-1}
		q, err := mpi.Irecv(c, in, 1-c.Rank(), 0)
		if err != nil {
			return err
		}
		if err := mpi.Send(c, []int{c.Rank()}, 1-c.Rank(), 0); err != nil {
			return err
		}
		if c.Rank() == 1 {
			theirs <- q
			<-done
		} else {
			err = mpi.WaitAll([]mpi.Request{q, <-theirs}, nil)
			close(done)
		}
		if err != nil || in[0] != 1-c.Rank() {
			return fmt.Errorf("rank %d has got %v, %w", c.Rank(), in, err)
		}
		return nil
	})
}

// TestNoAllocationsOfMany: calls that wait for many requests allocate nothing.
func TestNoAllocationsOfMany(t *testing.T) {
	countsAllocations(t)
	over(t, 1, func(c *mpi.Comm) error {
		in := make([][]int64, 64)
		for i := range in {
			in[i] = make([]int64, 1)
		}
		reqs, sts := make([]mpi.Request, len(in)), make([]mpi.Status, len(in))
		done := make([]mpi.Completion, 0, len(in))
		var failed error
		note := func(err error) {
			if failed == nil {
				failed = err
			}
		}
		for name, wait := range map[string]func(){
			"WaitAll": func() { note(mpi.WaitAll(reqs, sts)) },
			"WaitSome": func() {
				for len(done) < len(in) && failed == nil {
					var err error
					done, err = mpi.WaitSome(reqs, done)
					note(err)
				}
			},
			"WaitAny": func() {
				for range in {
					_, _, err := mpi.WaitAny(reqs)
					note(err)
				}
			},
			"TestAll": func() {
				for ok := false; !ok && failed == nil; {
					var err error
					ok, err = mpi.TestAll(reqs, nil)
					note(err)
				}
			},
		} {
			n := testing.AllocsPerRun(100, func() {
				done = done[:0]
				for i := range in {
					var err error
					reqs[i], err = mpi.Irecv(c, in[i], 0, 0)
					note(err)
				}
				for i := range in {
					note(mpi.Send(c, in[i], 0, 0))
				}
				wait()
			})
			if n >= 1 || failed != nil {
				return fmt.Errorf("%s: %v allocations, %w", name, n, failed)
			}
		}
		return nil
	})
}

// TestCopiesOfARequest: a request that was collected by another copy has failed, and its status says so wherever it is collected.
func TestCopiesOfARequest(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		self, token := c.Rank(), make([]int64, 1)
		for _, name := range slices.Sorted(maps.Keys(copiesCollected)) { // all ranks in the same order
			collect := copiesCollected[name]
			q, err := mpi.Irecv(c, token, self, 1)
			if err == nil {
				err = mpi.Send(c, token, self, 1)
			}
			if err != nil {
				return err
			}
			if st, err := collect(q); !errors.Is(err, mpi.ErrRequest) || !errors.Is(st.Err, mpi.ErrRequest) {
				return fmt.Errorf("%s: error %v, status %+v", name, err, st)
			}
			if self == 1 { // begins the barrier behind the other rank, for which it is not complete at once
				if _, err = mpi.Recv(c, token, 0, 2); err == nil {
					q, err = c.Ibarrier()
				}
				if err == nil {
					_, err = q.Wait()
				}
				if err != nil {
					return err
				}
				continue
			}
			if q, err = c.Ibarrier(); err == nil {
				err = mpi.Send(c, token, 1, 2)
			}
			if err != nil {
				return err
			}
			if st, err := collect(q); !errors.Is(err, mpi.ErrRequest) || !errors.Is(st.Err, mpi.ErrRequest) {
				return fmt.Errorf("%s of a barrier: error %v, status %+v", name, err, st)
			}
		}
		return nil
	})
}

// copiesCollected collect a request, and then another copy of it, whose status they return.
var copiesCollected = map[string]func(q mpi.Request) (mpi.Status, error){
	"WaitAll": func(q mpi.Request) (mpi.Status, error) {
		sts := make([]mpi.Status, 2)
		err := mpi.WaitAll([]mpi.Request{q, q}, sts)
		if sts[0].Err != nil {
			err = sts[0].Err
		}
		return sts[1], err
	},
	"Wait": func(q mpi.Request) (mpi.Status, error) {
		again := q
		if _, err := q.Wait(); err != nil {
			return mpi.Status{}, err
		}
		return again.Wait()
	},
	"Test": func(q mpi.Request) (mpi.Status, error) {
		again := q
		if _, err := q.Wait(); err != nil {
			return mpi.Status{}, err
		}
		st, _, err := again.Test()
		return st, err
	},
}
