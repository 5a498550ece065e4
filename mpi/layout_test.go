package mpi_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gomx/mpi"
)

// huge is the largest power of two that an int holds: 1 << 62 where it has 64 bits.
const huge = math.MaxInt/2 + 1

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

// TestBadLayouts: what makes no sense is the error of the call, however large its numbers, and costs nothing before.
func TestBadLayouts(t *testing.T) {
	const most = math.MaxInt
	world(t, 1, func(c *mpi.Comm) error {
		buf := make([]int32, 10)
		var all []error
		for name, x := range map[string]struct {
			layout mpi.Layout
			class  mpi.ErrorClass
		}{
			"a negative number of blocks":             {mpi.Vector(-1, 1, 1), mpi.ErrArg},
			"blocks of a negative length":             {mpi.Vector(1, -1, 1), mpi.ErrArg},
			"a negative stride":                       {mpi.Vector(3, 1, -2), mpi.ErrArg},
			"a contiguous one of a negative length":   {mpi.Contiguous(-1), mpi.ErrArg},
			"a vector that is longer than the buffer": {mpi.Vector(2, 1, 10), mpi.ErrCount},
			"a vector of more blocks than memory":     {mpi.Vector(huge, 1, 1), mpi.ErrCount},
			"a vector with gaps, and many blocks":     {mpi.Vector(huge>>22, 1, 2), mpi.ErrCount},
			"a vector of too many elements":           {mpi.Vector(huge, huge, 4), mpi.ErrArg},
			"a vector that is too long":               {mpi.Vector(5, 1, huge), mpi.ErrArg},
			"a vector whose last block is too long":   {mpi.Vector(2, 2, most-1), mpi.ErrArg},
			"blocks that lie on each other":           {mpi.Vector(huge>>22, 1, 0), mpi.ErrCount},
			"blocks of too many bytes":                {mpi.Vector(huge, 1, 0), mpi.ErrCount},
			"lengths without displacements":           {mpi.Indexed([]int{1}, nil), mpi.ErrArg},
			"a negative displacement":                 {mpi.Indexed([]int{1}, []int{-1}), mpi.ErrArg},
			"a negative length":                       {mpi.Indexed([]int{-1}, []int{1}), mpi.ErrArg},
			"a block that is too far":                 {mpi.Indexed([]int{huge}, []int{huge}), mpi.ErrArg},
			"a block that ends too far":               {mpi.Indexed([]int{1, most}, []int{0, 5}), mpi.ErrArg},
			"blocks of too many elements":             {mpi.Indexed([]int{most, most}, []int{0, 0}), mpi.ErrArg},
			"a block that is out of the buffer":       {mpi.Indexed([]int{1, 1}, []int{0, most - 1}), mpi.ErrCount},
			"no dimensions":                           {mpi.Subarray(nil, nil, nil), mpi.ErrArg},
			"dimensions of different number":          {mpi.Subarray([]int{4, 4}, []int{1, 1}, []int{0}), mpi.ErrArg},
			"a part that is too large":                {mpi.Subarray([]int{4}, []int{3}, []int{2}), mpi.ErrArg},
			"a part of nothing that is too far":       {mpi.Subarray([]int{4, 4}, []int{0, 1}, []int{0, 4}), mpi.ErrArg},
			"a part that seems to fit":                {mpi.Subarray([]int{4}, []int{most}, []int{2}), mpi.ErrArg},
			"an array of a negative size":             {mpi.Subarray([]int{math.MinInt}, []int{1}, []int{1}), mpi.ErrArg},
			"an array of too many rows":               {mpi.Subarray([]int{huge, 4}, []int{2, 4}, []int{huge >> 1, 0}), mpi.ErrArg},
			"an array of too many columns":            {mpi.Subarray([]int{4, huge}, []int{4, 2}, []int{0, 0}), mpi.ErrArg},
			"an array that is too large":              {mpi.Subarray([]int{huge >> 30, huge >> 30}, []int{2, 2}, []int{huge >> 31, 0}), mpi.ErrArg},
			"a part of more rows than memory":         {mpi.Subarray([]int{huge >> 22, 1 << 20}, []int{huge >> 22, 2}, []int{0, 0}), mpi.ErrCount},
		} {
			_, sent := mpi.IsendLayout(c, buf, x.layout, 0, 0)
			_, received := mpi.IrecvLayout(c, buf, x.layout, 0, 0)
			if err := errors.Join(wantError(sent, x.class, 0), wantError(received, x.class, 0)); err != nil {
				all = append(all, fmt.Errorf("%s: %w", name, err))
			}
		}
		return errors.Join(all...)
	})
}

// TestLayoutsOfNothing: no elements are no elements, however often they come.
func TestLayoutsOfNothing(t *testing.T) {
	for name, l := range map[string]mpi.Layout{
		"the zero value": {},
		"no blocks":      mpi.Vector(0, huge, huge),
		"empty blocks":   mpi.Vector(huge, 0, huge),
		"far away":       mpi.Indexed([]int{0}, []int{huge}),
		"an empty part":  mpi.Subarray([]int{huge, huge}, []int{huge >> 22, 0}, []int{1, 1}),
	} {
		if l.Count() != 0 || l.Extent() != 0 {
			t.Errorf("%s: %d elements over %d", name, l.Count(), l.Extent())
		}
	}
	world(t, 1, func(c *mpi.Comm) error {
		nothing := mpi.Vector(huge, 0, 0)
		q, err := mpi.IrecvLayout(c, one(), nothing, 0, 0)
		if err != nil {
			return err
		}
		if err := mpi.SendLayout(c, []int(nil), nothing, 0, 0); err != nil {
			return err
		}
		st, err := q.Wait()
		if err == nil && st.Count != 0 {
			err = fmt.Errorf("%+v", st)
		}
		return err
	})
}

// TestLayoutOrder: a message has the elements that the definition of its layout names, in that order.
func TestLayoutOrder(t *testing.T) {
	vector := func(count, blocklen, stride int) (places []int) {
		for i := range count {
			for j := range blocklen {
				places = append(places, i*stride+j)
			}
		}
		return places
	}
	sizes := []int{3, 4, 2, 5}
	world(t, 1, func(c *mpi.Comm) error {
		var all []error
		for _, x := range [][3]int{{4, 3, 10}, {4, 3, 3}, {3, 4, 2}, {5, 2, 0}, {1, 7, 1}, {300, 1, 3}} {
			all = append(all, wantPlaces(c, fmt.Sprint("vector ", x), mpi.Vector(x[0], x[1], x[2]), vector(x[0], x[1], x[2])))
		}
		all = append(all, wantPlaces(c, "indexed", mpi.Indexed([]int{2, 3, 1, 0, 2}, []int{4, 6, 0, 8, 3}), []int{4, 5, 6, 7, 8, 0, 3, 4}))
		random := rand.New(rand.NewPCG(1, 2))
		for range 500 {
			var starts, subsizes []int
			for _, n := range sizes {
				start := random.IntN(2) * random.IntN(n)
				starts = append(starts, start)
				subsizes = append(subsizes, n-start-random.IntN(2)*random.IntN(n-start+1))
			}
			all = append(all, wantPlaces(c, fmt.Sprint("part ", starts, subsizes), mpi.Subarray(sizes, subsizes, starts), inPart(sizes, subsizes, starts)))
		}
		return errors.Join(all...)
	})
}

// inPart returns the places of the elements of a part of an array, from looking at all elements.
func inPart(sizes, subsizes, starts []int) (places []int) {
	all := 1
	for _, n := range sizes {
		all *= n
	}
	for place := range all {
		inside, rest := true, place
		for d := len(sizes) - 1; d >= 0; d-- {
			at := rest % sizes[d]
			inside = inside && at >= starts[d] && at < starts[d]+subsizes[d]
			rest /= sizes[d]
		}
		if inside {
			places = append(places, place)
		}
	}
	return places
}

// wantPlaces wants a layout to have the elements at those places, in this order, in messages that are sent by it.
func wantPlaces(c *mpi.Comm, name string, l mpi.Layout, places []int) error {
	reach := 0
	for _, place := range places {
		reach = max(reach, place+1)
	}
	if l.Count() != len(places) || l.Extent() != reach {
		return fmt.Errorf("%s: %d elements over %d, want %d over %d", name, l.Count(), l.Extent(), len(places), reach)
	}
	buf, got := make([]int, reach), make([]int, len(places)+1)
	for i := range buf {
		buf[i] = i
	}
	q, err := mpi.Irecv(c, got, 0, 0)
	if err == nil {
		err = mpi.SendLayout(c, buf, l, 0, 0)
	}
	if err == nil {
		_, err = q.Wait()
	}
	if err == nil {
		err = same(got[:len(places)], places)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
