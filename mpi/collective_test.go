package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gomx/internal/testlength"
	"gomx/mpi"
)

func TestBarrier(t *testing.T) {
	for _, n := range manySizes {
		var called atomic.Int32
		over := func(c *mpi.Comm) error {
			for round := range 20 {
				called.Add(1)
				if err := c.Barrier(); err != nil {
					return err
				}
				if got := int(called.Load()); got < n*(round+1) {
					return fmt.Errorf("barrier %d was left after %d calls", round, got)
				}
			}
			return nil
		}
		world(t, n, over)
	}
}

func TestBcast(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	overSizes(t, func(c *mpi.Comm) error {
		for root := range c.Size() {
			for _, count := range []int{0, 1, 100, 20_000, 300_000} {
				if count == 300_000 && root%3 != 0 {
					continue // what differs by root has shown itself
				}
				buf, want := make([]int32, count), pattern(count, root)
				if c.Rank() == root {
					copy(buf, want)
				}
				if err := mpi.Bcast(c, buf, root); err != nil {
					return err
				}
				if err := same(buf, want); err != nil {
					return fmt.Errorf("%d of rank %d: %w", count, root, err)
				}
			}
		}
		return nil
	})
}

// gathered is what ranks 0..n-1 have, count(rank) elements each.
func gathered(n int, count func(rank int) int) (all []int32) {
	for rank := range n {
		all = append(all, pattern(count(rank), rank)...)
	}
	return all
}

func TestGatherAndScatter(t *testing.T) {
	testlength.Long(t)
	overSizes(t, func(c *mpi.Comm) error {
		n, rank := c.Size(), c.Rank()
		for _, count := range []int{0, 1, 33, 5000} {
			root := count % n
			own := pattern(count, rank)
			want := gathered(n, func(int) int { return count })
			all := make([]int32, count*n)
			if err := mpi.Gather(c, own, all, root); err != nil {
				return err
			}
			if rank == root {
				if err := same(all, want); err != nil {
					return fmt.Errorf("gather: %w", err)
				}
			}
			clear(own)
			if err := mpi.Scatter(c, all, own, root); err != nil {
				return err
			}
			if err := same(own, pattern(count, rank)); err != nil {
				return fmt.Errorf("scatter: %w", err)
			}
			clear(all)
			part := all[rank*count : (rank+1)*count]
			copy(part, own)
			if err := mpi.Allgather(c, part, all); err != nil { // in place
				return err
			}
			if err := same(all, want); err != nil {
				return fmt.Errorf("allgather: %w", err)
			}
		}
		return nil
	})
}

// TestInPlaceWhole gives the buffer of all ranks' parts as the own one.
func TestInPlaceWhole(t *testing.T) {
	world(t, 3, func(c *mpi.Comm) error {
		all := make([]int32, 3)
		all[c.Rank()] = int32(c.Rank() + 1)
		if err := mpi.Allgather(c, all, all); err != nil {
			return err
		}
		if err := same(all, []int32{1, 2, 3}); err != nil {
			return err
		}
		own := all[:1]
		if c.Rank() == 1 {
			own = all
		}
		if err := mpi.Scatter(c, all, own, 1); err != nil {
			return err
		}
		if c.Rank() == 1 {
			return same(all, []int32{1, 2, 3})
		}
		return same(own, []int32{int32(c.Rank() + 1)})
	})
}

func TestFormsWithCounts(t *testing.T) {
	overSizes(t, func(c *mpi.Comm) error {
		n, rank, root := c.Size(), c.Rank(), c.Size()/2
		count := func(rank int) int { return rank * 7 % 5 }
		var counts, displs []int
		total := 0
		for r := range n {
			displs = append(displs, total+r)
			counts = append(counts, count(r))
			total += count(r)
		}
		packed := gathered(n, count)
		gaps := slices.Repeat([]int32{-1}, total+n)
		for r := range n {
			copy(gaps[displs[r]:], pattern(count(r), r))
		}
		own := pattern(count(rank), rank)
		all := slices.Repeat([]int32{-1}, total+n)
		if err := mpi.Gatherv(c, own, all, counts, displs, root); err != nil {
			return err
		}
		if rank == root {
			if err := same(all, gaps); err != nil {
				return fmt.Errorf("gatherv: %w", err)
			}
		}
		clear(own)
		if err := mpi.Scatterv(c, packed, counts, nil, own, root); err != nil {
			return err
		}
		if err := same(own, pattern(count(rank), rank)); err != nil {
			return fmt.Errorf("scatterv: %w", err)
		}
		all = slices.Repeat([]int32{-1}, total+n)
		if err := mpi.Allgatherv(c, own, all, counts, displs); err != nil {
			return err
		}
		return same(all, gaps)
	})
}

func TestAlltoall(t *testing.T) {
	testlength.Long(t)
	overSizes(t, func(c *mpi.Comm) error {
		n, rank := c.Size(), c.Rank()
		for _, count := range []int{0, 1, 50, 4000} {
			buf, want := make([]int32, 0, count*n), make([]int32, 0, count*n)
			for r := range n {
				buf = append(buf, pattern(count, rank*100+r)...)
				want = append(want, pattern(count, r*100+rank)...)
			}
			recv := make([]int32, count*n)
			if err := mpi.Alltoall(c, buf, recv); err != nil {
				return err
			}
			if err := same(recv, want); err != nil {
				return err
			}
			if err := mpi.Alltoall(c, buf, buf); err != nil {
				return err
			}
			if err := same(buf, want); err != nil {
				return fmt.Errorf("in place: %w", err)
			}
		}
		return alltoallv(c)
	})
}

// alltoallv has rank r send (r+2*to)%4 elements to each.
func alltoallv(c *mpi.Comm) error {
	count := func(from, to int) int { return (from + 2*to) % 4 }
	var send, want []int32
	var sendCounts, recvCounts []int
	for r := range c.Size() {
		send = append(send, pattern(count(c.Rank(), r), c.Rank()*100+r)...)
		want = append(want, pattern(count(r, c.Rank()), r*100+c.Rank())...)
		sendCounts, recvCounts = append(sendCounts, count(c.Rank(), r)), append(recvCounts, count(r, c.Rank()))
	}
	recv := make([]int32, len(want))
	if err := mpi.Alltoallv(c, send, sendCounts, nil, recv, recvCounts, nil); err != nil {
		return err
	}
	return same(recv, want)
}

// TestManyAtOnce has collectives of all kinds under way at the same time, and waits for them
// in another order than they were started in.
func TestManyAtOnce(t *testing.T) {
	over(t, 5, func(c *mpi.Comm) error {
		n, rank := c.Size(), c.Rank()
		const count = 3000
		bcast, sums, scan, ex := make([]int32, count), []int64{int64(rank)}, []int64{int64(rank)}, []int64{int64(rank)}
		all, own, recv, part := make([]int32, n*count), pattern(count, rank), make([]int32, n*count), make([]int32, count)
		max, block := []int{0}, []int64{0}
		if rank == 2 {
			copy(bcast, pattern(count, 2))
		}
		everything := gathered(n, func(int) int { return count })
		var reqs []mpi.Request
		begin := func(q mpi.Request, err error) error {
			reqs = append(reqs, q)
			return err
		}
		ones := slices.Repeat([]int64{1}, n)
		if err := errors.Join(
			begin(c.Ibarrier()),
			begin(mpi.Ibcast(c, bcast, 2)),
			begin(mpi.Iallreduce(c, sums, sums, mpi.Sum)),
			begin(mpi.Iscan(c, scan, scan, mpi.Sum)),
			begin(mpi.Iexscan(c, ex, ex, mpi.Sum)),
			begin(mpi.Iallgather(c, own, all)),
			begin(mpi.Ialltoall(c, everything, recv)),
			begin(mpi.Ireduce(c, []int{rank}, max, mpi.Max, 3)),
			begin(mpi.Iscatter(c, everything, part, 0)),
			begin(mpi.IreduceScatterBlock(c, ones, block, mpi.Sum)),
		); err != nil {
			return err
		}
		slices.Reverse(reqs)
		if err := mpi.WaitAll(reqs, nil); err != nil {
			return err
		}
		if rank == 3 && max[0] != n-1 {
			return fmt.Errorf("the maximum is %d", max[0])
		}
		if rank > 0 && ex[0] != int64(rank*(rank-1)/2) {
			return fmt.Errorf("exscan is %d", ex[0])
		}
		return errors.Join(
			same(bcast, pattern(count, 2)), same(all, everything), same(part, pattern(count, rank)),
			same(recv, slices.Repeat(pattern(count, rank), n)), same(block, []int64{int64(n)}),
			same(append(sums, scan...), []int64{int64(n * (n - 1) / 2), int64(rank * (rank + 1) / 2)}))
	})
}

// TestCollectiveArguments looks that wrong arguments are told by name, before anything is sent.
func TestCollectiveArguments(t *testing.T) {
	type bad = *int
	four := make([]int, 4)
	var none mpi.Op[int]
	for name, x := range map[string]struct {
		class mpi.ErrorClass
		call  func(c *mpi.Comm) error
	}{
		"root":           {mpi.ErrRoot, func(c *mpi.Comm) error { return mpi.Bcast(c, four, 2) }},
		"negative root":  {mpi.ErrRoot, func(c *mpi.Comm) error { return mpi.Gather(c, four[:2], four, -1) }},
		"type":           {mpi.ErrType, func(c *mpi.Comm) error { return mpi.Bcast(c, make([]bad, 2), 0) }},
		"no op":          {mpi.ErrOp, func(c *mpi.Comm) error { return mpi.Allreduce(c, four, make([]int, 4), none) }},
		"lengths":        {mpi.ErrCount, func(c *mpi.Comm) error { return mpi.Allreduce(c, four, make([]int, 3), mpi.Sum) }},
		"overlap":        {mpi.ErrArg, func(c *mpi.Comm) error { return mpi.Scan(c, four[:2], four[1:3], mpi.Sum) }},
		"gather":         {mpi.ErrCount, func(c *mpi.Comm) error { return mpi.Gather(c, make([]int, 2), make([]int, 5), c.Rank()) }},
		"scatter":        {mpi.ErrCount, func(c *mpi.Comm) error { return mpi.Scatter(c, make([]int, 5), make([]int, 2), c.Rank()) }},
		"allgather":      {mpi.ErrCount, func(c *mpi.Comm) error { return mpi.Allgather(c, make([]int, 3), four) }},
		"allgather over": {mpi.ErrArg, func(c *mpi.Comm) error { return mpi.Allgather(c, four[1:3], four) }},
		"counts":         {mpi.ErrCount, func(c *mpi.Comm) error { return mpi.Allgatherv(c, four[:1], four, []int{1}, nil) }},
		"outside": {mpi.ErrCount, func(c *mpi.Comm) error {
			return mpi.Gatherv(c, four[:1], make([]int, 4), []int{1, 1}, []int{0, 4}, c.Rank())
		}},
		"negative count": {mpi.ErrCount, func(c *mpi.Comm) error {
			return mpi.ReduceScatter(c, four, make([]int, 2), []int{-1, 5}, mpi.Sum)
		}},
		"own count": {mpi.ErrCount, func(c *mpi.Comm) error { return mpi.ReduceScatter(c, four, make([]int, 3), []int{2, 2}, mpi.Sum) }},
		"alltoall":  {mpi.ErrCount, func(c *mpi.Comm) error { return mpi.Alltoall(c, make([]int, 3), make([]int, 3)) }},
		"alltoallv": {mpi.ErrCount, func(c *mpi.Comm) error {
			return mpi.Alltoallv(c, four, []int{2, 3}, nil, make([]int, 4), []int{2, 2}, nil)
		}},
		"i-form": {mpi.ErrRoot, func(c *mpi.Comm) error { _, err := mpi.Ibcast(c, four, 7); return err }},
	} {
		t.Run(name, func(t *testing.T) {
			world(t, 2, func(c *mpi.Comm) error { return wantError(x.call(c), x.class, c.Rank()) })
		})
	}
}

// TestMismatchedCounts has a rank give a longer buffer than the other.
func TestMismatchedCounts(t *testing.T) {
	unchecked(t)
	over(t, 2, func(c *mpi.Comm) error {
		err := mpi.Bcast(c, make([]int64, 3+2*c.Rank()), 0)
		if c.Rank() == 0 {
			return err
		}
		if err := wantError(err, mpi.ErrCount, 1); err != nil {
			return err
		}
		for _, word := range []string{"Bcast", "40 bytes", "24", "rank 0"} {
			if !strings.Contains(err.Error(), word) {
				return fmt.Errorf("%q does not mention %q", err, word)
			}
		}
		return nil
	})
}

func TestAlgorithms(t *testing.T) {
	kinds, algorithms := mpi.Algorithms()
	for i, kind := range kinds {
		for _, algorithm := range algorithms[i] {
			world(t, 4, func(c *mpi.Comm) error {
				if got := c.Algorithm(kind, 100); got != algorithm {
					return fmt.Errorf("%s by %s, not %s", kind, got, algorithm)
				}
				v := []int64{int64(c.Rank())}
				if err := mpi.Allreduce(c, v, v, mpi.Sum); err != nil {
					return err
				}
				if err := same(v, []int64{6}); err != nil {
					return err
				}
				if err := c.SetAlgorithm(kind, "automatic"); err != nil {
					return err
				}
				return c.Barrier()
			}, mpi.WithAlgorithms(kind+"="+algorithm))
		}
	}
	world(t, 2, func(c *mpi.Comm) error {
		if c.Algorithm("nothing", 1) != "" {
			return errors.New("an algorithm for nothing")
		}
		return wantError(c.SetAlgorithm("bcast", "magic"), mpi.ErrArg, c.Rank())
	})
	if err := run(t, 1, func(*mpi.Comm) error { return nil }, mpi.WithAlgorithms("bcast")); !errors.Is(err, mpi.ErrArg) {
		t.Errorf("a bad list of algorithms: %v", err)
	}
	t.Setenv("MX_COLL", "barrier=tree")
	world(t, 2, func(c *mpi.Comm) error {
		if got := c.Algorithm("barrier", 0); got != "tree" {
			return fmt.Errorf("the environment says tree, it is %s", got)
		}
		return nil
	})
}

// TestEmptyPartsHaveNoPlace: the displacement of a part without elements means nothing.
func TestEmptyPartsHaveNoPlace(t *testing.T) {
	over(t, 3, func(c *mpi.Comm) error {
		counts := []int{1, 0, 1}
		for _, nowhere := range []int{-1, 3, huge} {
			displs := []int{1, nowhere, 0}
			own := []int{c.Rank() + 1}[:counts[c.Rank()]]
			all, gathered, got := []int{0, 0}, []int{0, 0}, make([]int, counts[c.Rank()])
			err := errors.Join(
				mpi.Allgatherv(c, own, all, counts, displs),
				mpi.Gatherv(c, own, gathered, counts, displs, 0),
				mpi.Scatterv(c, []int{3, 1}, counts, displs, got, 0),
			)
			if err := errors.Join(err, same(all, []int{3, 1}), same(got, own)); err != nil {
				return err
			}
			if c.Rank() == 0 {
				err = same(gathered, []int{3, 1})
			}
			send := []int{10 * c.Rank(), 10*c.Rank() + 1}
			from := []int{0, 0}
			if c.Rank() == 1 {
				from = nil
			}
			receive := []int{1, 0, 1}
			sendCounts, recvDispls := []int{1, 0, 1}, []int{1, nowhere, 0}
			if c.Rank() == 1 {
				sendCounts, receive = []int{0, 0, 0}, []int{0, 0, 0}
				recvDispls = []int{nowhere, -nowhere, nowhere}
			}
			err = errors.Join(err, mpi.Alltoallv(c, send, sendCounts, []int{0, nowhere, 1}, from, receive, recvDispls))
			if part := c.Rank() / 2; c.Rank() != 1 {
				err = errors.Join(err, same(from, []int{20 + part, part}))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
