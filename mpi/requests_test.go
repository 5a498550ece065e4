package mpi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gomx/mpi"
)

// TestWaitAny collects messages in the order in which they come.
func TestWaitAny(t *testing.T) {
	const n = 5
	over(t, n, func(c *mpi.Comm) error {
		if c.Rank() != 0 {
			var token []byte
			if _, err := mpi.Recv(c, token, 0, 0); err != nil { // its turn
				return err
			}
			return mpi.Send(c, []int{c.Rank()}, 0, 1)
		}
		in := make([][]int, n)
		reqs := make([]mpi.Request, n)
		for r := 1; r < n; r++ {
			in[r] = make([]int, 1)
			var err error
			if reqs[r], err = mpi.Irecv(c, in[r], r, 1); err != nil {
				return err
			}
		}
		if i, _, done, err := mpi.TestAny(reqs); done || err != nil {
			return fmt.Errorf("request %d is done before anybody has sent, %w", i, err)
		}
		if done, err := mpi.TestSome(reqs, nil); len(done) > 0 || err != nil {
			return fmt.Errorf("requests %v are done before anybody has sent, %w", done, err)
		}
		for r := n - 1; r > 0; r-- {
			if err := mpi.Send(c, []byte(nil), r, 0); err != nil {
				return err
			}
			i, st, err := mpi.WaitAny(reqs)
			if err != nil || i != r || st.Source != r || in[r][0] != r {
				return fmt.Errorf("request %d, %+v, %w", i, st, err)
			}
		}
		i, _, done, err := mpi.TestAny(reqs)
		if i != mpi.Undefined || !done || err != nil {
			return fmt.Errorf("of empty requests %d is done (%v), %w", i, done, err)
		}
		if i, _, err := mpi.WaitAny(nil); i != mpi.Undefined || err != nil {
			return fmt.Errorf("of no requests %d is done, %w", i, err)
		}
		return nil
	})
}

// TestWaitSome: all messages are collected, some at a time, from anybody.
func TestWaitSome(t *testing.T) {
	const n, each = 4, 50
	over(t, n, func(c *mpi.Comm) error {
		if c.Rank() != 0 {
			for i := range each {
				if err := mpi.Send(c, pattern(i*40, c.Rank()), 0, i); err != nil {
					return err
				}
			}
			return nil
		}
		reqs := make([]mpi.Request, each*(n-1))
		for i := range reqs {
			var err error
			if reqs[i], err = mpi.Irecv(c, make([]int32, each*40), mpi.AnySource, i%each); err != nil {
				return err
			}
		}
		got := 0
		var done []mpi.Completion
		for got < len(reqs) {
			var err error
			if done, err = mpi.WaitSome(reqs, done[:0]); err != nil {
				return err
			}
			for _, d := range done {
				if st := d.Status; st.Tag != d.Index%each || st.Count != 40*st.Tag || st.Source == 0 {
					return fmt.Errorf("request %d got %+v", d.Index, st)
				}
			}
			got += len(done)
		}
		if done, err := mpi.WaitSome(reqs, nil); len(done) != 0 || err != nil {
			return fmt.Errorf("more than all: %v, %w", done, err)
		}
		return nil
	})
}

// TestCancel: a receive that was cancelled says so, and the message goes to the next one.
func TestCancel(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		other := 1 - c.Rank()
		gone, in := []int{-1}, []int{-1}
		for _, source := range []int{other, mpi.AnySource} {
			q, err := mpi.Irecv(c, gone, source, 5)
			if err != nil {
				return err
			}
			if err := q.Cancel(); err != nil {
				return err
			}
			if st, err := q.Wait(); err != nil || !st.Cancelled {
				return fmt.Errorf("%+v, %w", st, err)
			}
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		if err := mpi.Send(c, []int{c.Rank()}, other, 5); err != nil {
			return err
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		q, err := mpi.Irecv(c, in, other, 5) // it is there
		if err != nil {
			return err
		}
		if err := q.Cancel(); err != nil {
			return err
		}
		if st, err := q.Wait(); err != nil || st.Cancelled || in[0] != other || gone[0] != -1 {
			return fmt.Errorf("%+v, %v, %v, %w", st, in, gone, err)
		}
		s, err := mpi.Issend(c, in, c.Rank(), 6)
		if err != nil {
			return err
		}
		if err := wantError(s.Cancel(), mpi.ErrRequest, c.Rank()); err != nil {
			return err
		}
		if _, err := mpi.Recv(c, gone, c.Rank(), 6); err != nil {
			return err
		}
		if _, err := s.Wait(); err != nil {
			return err
		}
		var zero mpi.Request
		for _, empty := range []*mpi.Request{&s, &zero} {
			if err := empty.Cancel(); !errors.Is(err, mpi.ErrRequest) || !strings.Contains(err.Error(), "the request is empty") {
				return fmt.Errorf("Cancel of an empty request: %w", err)
			}
		}
		return nil
	})
}

// TestFreedRequests go on without their requests.
func TestFreedRequests(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		other := 1 - c.Rank()
		in, out := make([]int32, 40_000), pattern(40_000, c.Rank())
		r, err := mpi.Irecv(c, in, other, 0)
		if err != nil {
			return err
		}
		s, err := mpi.Isend(c, out, other, 0)
		if err != nil {
			return err
		}
		if err := errors.Join(r.Free(), r.Free()); err != nil {
			return err
		}
		if _, err := r.Wait(); err != nil {
			return fmt.Errorf("waiting for an empty request: %w", err)
		}
		if _, err := s.Wait(); err != nil { // such a large one has been received then
			return err
		}
		if s, err = mpi.Issend(c, []byte{3}, other, 1); err != nil {
			return err
		}
		if err := errors.Join(s.Free(), c.Barrier(), same(in, pattern(40_000, other))); err != nil {
			return err
		}
		_, err = mpi.Recv(c, make([]byte, 1), other, 1)
		return err
	})
}

// TestPersistent begins the same sends and receives again and again.
func TestPersistent(t *testing.T) {
	over(t, 3, func(c *mpi.Comm) error {
		next, before := (c.Rank()+1)%3, (c.Rank()+2)%3
		for _, size := range []int{1, 30_000} {
			var all []*mpi.Persistent
			out, in := make([][]int32, 4), make([][]int32, 4)
			for i := range out {
				out[i], in[i] = make([]int32, size), make([]int32, size)
				send := []func(*mpi.Comm, []int32, int, int) (*mpi.Persistent, error){
					mpi.SendInit[int32], mpi.SsendInit[int32], mpi.BsendInit[int32], mpi.RsendInit[int32]}[i]
				s, err := send(c, out[i], next, i)
				if err != nil {
					return err
				}
				r, err := mpi.RecvInit(c, in[i], before, i)
				if err != nil {
					return err
				}
				all = append(all, r, s)
			}
			for round := range 5 {
				for i := range out {
					copy(out[i], pattern(size, round*8+i+c.Rank()*100))
				}
				reqs, err := mpi.StartAll(all, nil)
				if err != nil {
					return err
				}
				_, err = all[0].Start()
				if err := wantError(err, mpi.ErrRequest, c.Rank()); err != nil {
					return err
				}
				sts := make([]mpi.Status, len(reqs))
				if err := mpi.WaitAll(reqs, sts); err != nil {
					return err
				}
				for i := range in {
					if sts[2*i].Source != before || sts[2*i].Count != size {
						return fmt.Errorf("status %+v", sts[2*i])
					}
					if err := same(in[i], pattern(size, round*8+i+before*100)); err != nil {
						return fmt.Errorf("round %d, message %d: %w", round, i, err)
					}
				}
			}
		}
		return nil
	})
}

// TestManyRequests: floods of messages, many more than rings have places for, in order.
func TestManyRequests(t *testing.T) {
	const n = 3000
	over(t, 2, func(c *mpi.Comm) error {
		other := 1 - c.Rank()
		in := make([]int, n)
		reqs := make([]mpi.Request, 0, 2*n)
		for i := range n {
			s, err := mpi.Isend(c, []int{i}, other, 0)
			if err != nil {
				return err
			}
			reqs = append(reqs, s)
		}
		for i := range n {
			r, err := mpi.Irecv(c, in[i:i+1], mpi.AnySource, 0)
			if err != nil {
				return err
			}
			reqs = append(reqs, r)
		}
		if err := mpi.WaitAll(reqs, nil); err != nil {
			return err
		}
		for i := range in {
			if in[i] != i {
				return fmt.Errorf("message %d says %d", i, in[i])
			}
		}
		return nil
	})
}
