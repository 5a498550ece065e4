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

// TestNoWholeNumber: a message that is no whole number of elements is an error.
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

// TestLayouts: strided columns, parts of arrays and lists of blocks, few and many.
func TestLayouts(t *testing.T) {
	const rows, cols = 300, 20
	layouts := map[string]mpi.Layout{
		"contiguous":   mpi.Contiguous(100),
		"nothing":      mpi.Contiguous(0),
		"few columns":  mpi.Vector(10, 3, cols),
		"column":       mpi.Vector(rows, 1, cols),
		"indexed":      mpi.Indexed([]int{3, 0, 5, 1}, []int{100, 7, 20, 50}),
		"part":         mpi.Subarray([]int{rows, cols}, []int{5, 7}, []int{3, 2}),
		"part of cube": mpi.Subarray([]int{10, 30, cols}, []int{3, 2, 4}, []int{7, 11, 16}),
		"large part":   mpi.Subarray([]int{rows, cols}, []int{290, 19}, []int{10, 0}),
	}
	for name, l := range layouts {
		t.Run(name, func(t *testing.T) {
			over(t, 2, func(c *mpi.Comm) error {
				other := 1 - c.Rank()
				out, in := pattern(rows*cols, c.Rank()), make([]int32, rows*cols)
				r, err := mpi.IrecvLayout(c, in, l, other, 1)
				if err != nil {
					return err
				}
				s, err := mpi.IsendLayout(c, out, l, other, 1)
				if err != nil {
					return err
				}
				st, err := r.Wait()
				if err != nil || st.Count != l.Count() || st.Source != other {
					return fmt.Errorf("%+v, %w", st, err)
				}
				if _, err := s.Wait(); err != nil {
					return err
				}
				// The same elements have come, and no others; packed they are in the same order.
				flat, theirs := make([]int32, l.Count()), pattern(rows*cols, other)
				for i := range in {
					if in[i] != 0 && in[i] != theirs[i] {
						return fmt.Errorf("element %d is %d", i, in[i])
					}
				}
				if q, err := mpi.Irecv(c, flat, c.Rank(), 2); err != nil {
					return err
				} else if err := mpi.SendLayout(c, in, l, c.Rank(), 2); err != nil {
					return err
				} else if _, err := q.Wait(); err != nil {
					return err
				}
				again := make([]int32, rows*cols)
				q, err := mpi.Isend(c, flat, c.Rank(), 3)
				if err != nil {
					return err
				}
				if _, err := mpi.RecvLayout(c, again, l, c.Rank(), 3); err != nil {
					return err
				}
				if _, err := q.Wait(); err != nil {
					return err
				}
				return same(again, in)
			})
		})
	}
}

func TestBadLayouts(t *testing.T) {
	world(t, 1, func(c *mpi.Comm) error {
		buf := make([]byte, 10)
		var all []error
		for _, l := range []mpi.Layout{mpi.Vector(-1, 1, 1), mpi.Indexed([]int{1}, nil), mpi.Indexed([]int{1}, []int{-1}),
			mpi.Subarray(nil, nil, nil), mpi.Subarray([]int{4}, []int{3}, []int{2})} {
			all = append(all, wantError(mpi.SendLayout(c, buf, l, 0, 0), mpi.ErrArg, 0))
		}
		_, err := mpi.RecvLayout(c, buf, mpi.Vector(2, 1, 10), 0, 0)
		return errors.Join(append(all, wantError(err, mpi.ErrCount, 0))...)
	})
}
