package mpi_test

import (
	"errors"
	"fmt"
	"testing"

	"gomx/mpi"
)

// TestWildcards: any source and any tag, with the message's own in the status.
func TestWildcards(t *testing.T) {
	const n = 4
	over(t, n, func(c *mpi.Comm) error {
		if c.Rank() != 0 {
			for _, tag := range []int{0, 7, mpi.TagUB} {
				if err := mpi.Send(c, []int{c.Rank(), tag}, 0, tag); err != nil {
					return err
				}
			}
			return nil
		}
		in := make([]int, 2)
		last := map[int]int{}
		for range 3 * (n - 1) {
			st, err := mpi.Recv(c, in, mpi.AnySource, mpi.AnyTag)
			if err != nil || st.Source != in[0] || st.Tag != in[1] || st.Count != 2 {
				return fmt.Errorf("%+v for %v, %w", st, in, err)
			}
			if before, ok := last[st.Source]; ok && before >= st.Tag {
				return fmt.Errorf("rank %d's tag %d comes after %d", st.Source, st.Tag, before)
			}
			last[st.Source] = st.Tag
		}
		return nil
	})
}

// TestTruncation: a longer message is cut, with an error that says so, and the next one is whole.
func TestTruncation(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		for _, size := range []int{2, 1000, 60_000} {
			if c.Rank() == 0 {
				if err := errors.Join(mpi.Send(c, pattern(size, 1), 1, 0), mpi.Send(c, pattern(size, 2), 1, 0)); err != nil {
					return err
				}
				continue
			}
			in := make([]int32, size)
			st, err := mpi.Recv(c, in[:size-1], 0, 0)
			if err := wantError(err, mpi.ErrTruncate, 1); err != nil {
				return err
			}
			if st.Count != size-1 || !errors.Is(st.Err, mpi.ErrTruncate) {
				return fmt.Errorf("status %+v", st)
			}
			if err := same(in[:size-1], pattern(size, 1)[:size-1]); err != nil {
				return err
			}
			if _, err := mpi.Recv(c, in, mpi.AnySource, 0); err != nil {
				return err
			}
			if err := same(in, pattern(size, 2)); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestNoWholeNumber: a message whose size is not a multiple of the element size is an error.
func TestNoWholeNumber(t *testing.T) {
	world(t, 2, func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			return mpi.Send(c, make([]byte, 7), 1, 0)
		}
		st, err := mpi.Recv(c, make([]int32, 4), 0, 0)
		if st.Count != 1 || st.Bytes != 7 {
			return fmt.Errorf("status %+v", st)
		}
		return wantError(err, mpi.ErrType, 1)
	})
}

// TestProbe learns lengths before it receives.
func TestProbe(t *testing.T) {
	over(t, 3, func(c *mpi.Comm) error {
		if c.Rank() != 0 {
			for tag, size := range sizes {
				if err := mpi.Send(c, pattern(size, tag), 0, tag); err != nil {
					return err
				}
			}
			return nil
		}
		for source := 1; source < 3; source++ {
			for tag, size := range sizes {
				st, err := c.Probe(source, tag)
				if err != nil || st.Source != source || st.Tag != tag || st.Bytes != 4*size {
					return fmt.Errorf("%+v, %w", st, err)
				}
				if again, found, err := c.Iprobe(mpi.AnySource, tag); !found || err != nil || again.Bytes != 4*size {
					return fmt.Errorf("%+v, %v, %w", again, found, err)
				}
				in := make([]int32, st.Bytes/4)
				if _, err := mpi.Recv(c, in, st.Source, st.Tag); err != nil {
					return err
				}
				if err := same(in, pattern(size, tag)); err != nil {
					return err
				}
			}
		}
		if st, found, err := c.Iprobe(mpi.AnySource, mpi.AnyTag); found || err != nil {
			return fmt.Errorf("%+v is left, %w", st, err)
		}
		return nil
	})
}

// TestMprobe takes messages away, and receives them in another order.
func TestMprobe(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		if c.Rank() != 0 {
			for _, size := range sizes {
				if err := mpi.Bsend(c, pattern(size, size), 0, 0); err != nil {
					return err
				}
			}
			return nil
		}
		var taken []*mpi.Message
		for _, size := range sizes {
			m, st, err := c.Mprobe(mpi.AnySource, 0)
			if err != nil || st.Bytes != 4*size {
				return fmt.Errorf("%+v, %w", st, err)
			}
			taken = append(taken, m)
		}
		if _, st, found, err := c.Improbe(1, mpi.AnyTag); found || err != nil {
			return fmt.Errorf("%+v is left, %w", st, err)
		}
		for i := len(taken) - 1; i >= 0; i-- {
			in := make([]int32, sizes[i])
			q, err := mpi.Imrecv(taken[i], in)
			if err != nil {
				return err
			}
			if st, err := q.Wait(); err != nil || st.Source != 1 || st.Count != sizes[i] {
				return fmt.Errorf("%+v, %w", st, err)
			}
			if err := same(in, pattern(sizes[i], sizes[i])); err != nil {
				return err
			}
			if _, err := mpi.Mrecv(taken[i], in); !errors.Is(err, mpi.ErrRequest) {
				return fmt.Errorf("the second time: %v", err)
			}
		}
		return nil
	})
}

// TestOrderAcrossReceives: messages match in the order of sending, receives in the order of posting.
func TestOrderAcrossReceives(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		const n = 40
		if c.Rank() == 0 {
			for i := range n {
				size := 1 + i%3*5000 // small and large ones
				if err := mpi.Bsend(c, pattern(size, i), 1, i%2); err != nil {
					return err
				}
			}
			return nil
		}
		in := make([][]int32, n)
		reqs := make([]mpi.Request, n)
		for i := range n {
			in[i] = make([]int32, 20_000)
			tag := []int{mpi.AnyTag, i % 2}[i/2%2]
			var err error
			if reqs[i], err = mpi.Irecv(c, in[i], []int{0, mpi.AnySource}[i/4%2], tag); err != nil {
				return err
			}
		}
		sts := make([]mpi.Status, n)
		if err := mpi.WaitAll(reqs, sts); err != nil {
			return err
		}
		for i, st := range sts {
			if err := same(in[i][:st.Count], pattern(1+i%3*5000, i)); err != nil {
				return fmt.Errorf("receive %d, %+v: %w", i, st, err)
			}
		}
		return nil
	})
}
