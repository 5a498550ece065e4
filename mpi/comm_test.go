package mpi_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gomx/mpi"
)

// rolls returns the ranks of the world that are in a communicator.
func rolls(world, c *mpi.Comm) ([]int, error) {
	all := make([]int, c.Size())
	return all, mpi.Allgather(c, []int{world.Rank()}, all)
}

// TestDup: messages of one communicator don't match receives of another.
func TestDup(t *testing.T) {
	over(t, 3, func(c *mpi.Comm) error {
		d, err := c.Dup()
		if err != nil {
			return err
		}
		next, before := (c.Rank()+1)%3, (c.Rank()+2)%3
		if err := errors.Join(mpi.Send(c, []int{1}, next, 0), mpi.Send(d, []int{2}, next, 0)); err != nil {
			return err
		}
		in := make([]int, 1)
		if _, err := mpi.Recv(d, in, mpi.AnySource, mpi.AnyTag); err != nil || in[0] != 2 {
			return fmt.Errorf("the copy got %v, %w", in, err)
		}
		if _, err := mpi.Recv(c, in, before, 0); err != nil || in[0] != 1 {
			return fmt.Errorf("the world got %v, %w", in, err)
		}
		if how := c.Compare(d); how != mpi.Congruent || c.Compare(c.WithContext(t.Context())) != mpi.Identical {
			return fmt.Errorf("compared: %v", how)
		}
		d.SetName("second")
		if err := d.Free(); err != nil {
			return err
		}
		return errors.Join(wantError(d.Free(), mpi.ErrComm, d.Rank()), wantError(mpi.Send(d, in, 0, 0), mpi.ErrComm, d.Rank()),
			wantError(d.Barrier(), mpi.ErrComm, d.Rank()), wantError(c.Free(), mpi.ErrComm, c.Rank()))
	})
}

// TestNamesOfPrograms: what a program calls a communicator is what Name returns, and no message has more of it than a terminal prints in a line.
func TestNamesOfPrograms(t *testing.T) {
	world(t, 1, func(c *mpi.Comm) error {
		d, err := c.Dup()
		if err != nil {
			return err
		}
		const name = "x\n\x1b[31mevil\xff"
		for given, want := range map[string]string{name: `mpi: Send on x\n\x1b[31mevil\xff, rank 0, with rank 7`, strings.Repeat("y", 1<<20): strings.Repeat("y", 97) + "..., rank 0"} {
			d.SetName(given)
			err := mpi.Send(d, one(), 7, 0)
			failed, ok := errors.AsType[*mpi.Error](err)
			if !ok || failed.Comm != given || d.Name() != given || !strings.Contains(err.Error(), want) || len(err.Error()) > 300 {
				return fmt.Errorf("error %.300q, and not %q", err, want)
			}
			report, err := d.HangReport(t.Context())
			if err != nil || strings.Contains(report.Text+string(report.JSON), given) || len(report.JSON) > 10_000 {
				return fmt.Errorf("%w, %.1000q", err, report.JSON)
			}
		}
		return d.Free()
	})
}

// TestContextsComeBackLast: a context that was given back is given out again only after all others, and not one that is
// in use.
func TestContextsComeBackLast(t *testing.T) {
	world(t, 2, func(c *mpi.Comm) error {
		kept, err := c.Dup()
		if err != nil {
			return err
		}
		first, seen := mpi.ContextOf(kept), map[uint32]bool{}
		for round := range 2000 {
			if round == 1000 {
				mpi.PassContexts(c, mpi.ContextPairs-1001-5) // five are left before the first one's turn
			}
			d, err := c.Dup()
			if err != nil {
				return fmt.Errorf("after %d: %w", round, err)
			}
			context := mpi.ContextOf(d)
			if again := seen[context]; context == first || again != (round >= 1005) {
				return fmt.Errorf("round %d: context %d, the first has %d, seen before: %v", round, context, first, again)
			}
			seen[context] = true
			if err := d.Free(); err != nil {
				return err
			}
		}
		return kept.Free()
	})
}

// TestTooManyCommunicators: all ranks learn that one of them has no context left, or that there is none that all have.
func TestTooManyCommunicators(t *testing.T) {
	world(t, 2, func(c *mpi.Comm) error {
		taken := mpi.ContextPairs
		if c.Rank() == 0 {
			taken = 7 // it proposes others all the same
		}
		use := func(n int) []uint32 { return mpi.UseContexts(c, n) }
		contexts := use(taken)
		_, err := c.Dup()
		if err := wantError(err, mpi.ErrComm, c.Rank()); err != nil {
			return err
		}
		if err := c.Barrier(); err != nil { // before they come back
			return err
		}
		mpi.GiveContextsBack(c, contexts[len(contexts)-1:])
		d, err := c.Dup()
		if err != nil {
			return err
		}
		return errors.Join(sum(d), d.Free())
	})
}

// TestDupsAtOnce: several goroutines make communicators of different ones, in different orders.
func TestDupsAtOnce(t *testing.T) {
	const n, branches = 3, 5
	world(t, n, func(c *mpi.Comm) error {
		parents := make([]*mpi.Comm, branches)
		for i := range parents {
			var err error
			if parents[i], err = c.Dup(); err != nil {
				return err
			}
		}
		made := make([][]*mpi.Comm, branches)
		errs := make([]error, branches)
		var all sync.WaitGroup
		for k := range branches {
			i := (k*(c.Rank()+1) + c.Rank()) % branches
			all.Go(func() {
				for range 20 {
					d, err := parents[i].Dup()
					if err != nil {
						errs[i] = err
						return
					}
					made[i] = append(made[i], d)
				}
			})
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		// Each is one of its own.
		for i := range made {
			for k, d := range made[i] {
				if err := mpi.Send(d, []int{100*i + k}, (c.Rank()+1)%n, 0); err != nil {
					return err
				}
			}
		}
		for i := range made {
			for k, d := range made[i] {
				in := []int{0}
				if _, err := mpi.Recv(d, in, mpi.AnySource, 0); err != nil || in[0] != 100*i+k {
					return fmt.Errorf("%d of %d got %v, %w", k, i, in, err)
				}
			}
		}
		return nil
	})
}

func TestSplit(t *testing.T) {
	for _, n := range []int{1, 2, 5, 8} {
		over(t, n, func(c *mpi.Comm) error {
			color := c.Rank() % 3
			if color == 2 {
				color = mpi.Undefined
			}
			part, err := c.Split(color, -c.Rank())
			if err != nil {
				return err
			}
			if color == mpi.Undefined {
				if part != nil {
					return fmt.Errorf("a communicator without a color")
				}
				return nil
			}
			var want []int
			for r := n - 1; r >= 0; r-- {
				if r%3 == color {
					want = append(want, r)
				}
			}
			got, err := rolls(c, part)
			if err != nil || !slices.Equal(got, want) || want[part.Rank()] != c.Rank() {
				return fmt.Errorf("color %d has %v, %w", color, got, err)
			}
			host, err := part.SplitHost(0)
			if err != nil || host.Size() != part.Size() || host.Rank() != part.Rank() {
				return fmt.Errorf("ranks of the host: %w", err)
			}
			return host.Free()
		})
	}
}

func TestBadColor(t *testing.T) {
	world(t, 1, func(c *mpi.Comm) error {
		_, err := c.Split(-7, 0)
		return wantError(err, mpi.ErrArg, 0)
	})
}

func TestGroups(t *testing.T) {
	world(t, 6, func(c *mpi.Comm) error {
		all := c.Group()
		even, err := all.RangeIncl(mpi.RankRange{First: 0, Last: 5, Stride: 2})
		if err != nil {
			return err
		}
		last, err := all.RangeIncl(mpi.RankRange{First: 5, Last: 3, Stride: -1})
		if err != nil {
			return err
		}
		odd, err := all.Excl(0, 2, 4)
		if err != nil {
			return err
		}
		none, err := all.RangeExcl(mpi.RankRange{First: 0, Last: 5, Stride: 1})
		if err != nil {
			return err
		}
		if _, err := none.Incl(0); !errors.Is(err, mpi.ErrRank) || !strings.Contains(err.Error(), "the group is empty") {
			return fmt.Errorf("rank 0 of an empty group: error %v", err)
		}
		for name, c2 := range map[string]struct {
			got  *mpi.Group
			want []int
		}{
			"even": {even, []int{0, 2, 4}}, "last": {last, []int{5, 4, 3}}, "odd": {odd, []int{1, 3, 5}}, "none": {none, nil},
			"union": {even.Union(last), []int{0, 2, 4, 5, 3}}, "both": {last.Intersection(odd), []int{5, 3}},
			"less": {last.Difference(odd), []int{4}},
		} {
			ranks := make([]int, len(c2.want))
			for i := range ranks {
				ranks[i] = i
			}
			got, err := c2.got.Translate(ranks, all)
			if err != nil || c2.got.Size() != len(c2.want) || !slices.Equal(got, c2.want) && len(got) > 0 {
				return fmt.Errorf("%s: %v, %w", name, got, err)
			}
			if at := slices.Index(c2.want, c.Rank()); at != c2.got.Rank() && (at >= 0 || c2.got.Rank() != mpi.Undefined) {
				return fmt.Errorf("%s: rank %d", name, c2.got.Rank())
			}
		}
		reversed, err := even.Incl(2, 1, 0)
		if err != nil {
			return err
		}
		if even.Compare(reversed) != mpi.Similar || even.Compare(odd) != mpi.Unequal || odd.Compare(odd) != mpi.Identical {
			return errors.New("comparisons")
		}
		to, err := even.Translate([]int{0, 1, mpi.ProcNull}, last)
		if err != nil || !slices.Equal(to, []int{mpi.Undefined, mpi.Undefined, mpi.ProcNull}) {
			return fmt.Errorf("translated: %v, %w", to, err)
		}
		_, twice := all.Incl(1, 1)
		_, beyond := all.Excl(6)
		_, stride := all.RangeIncl(mpi.RankRange{})
		_, far := all.RangeIncl(mpi.RankRange{First: 0, Last: huge, Stride: 1})
		if !errors.Is(twice, mpi.ErrRank) || !errors.Is(beyond, mpi.ErrRank) || !errors.Is(stride, mpi.ErrArg) || !errors.Is(far, mpi.ErrRank) {
			return fmt.Errorf("%v, %v, %v, %v", twice, beyond, stride, far)
		}
		alone, err := all.RangeIncl(mpi.RankRange{First: 1, Last: math.MaxInt, Stride: math.MaxInt})
		if err != nil || alone.Size() != 1 {
			return fmt.Errorf("a range of one rank: %v, %w", alone, err)
		}
		return created(c, reversed, []int{4, 2, 0})
	})
}

// created makes a communicator of a group.
func created(c *mpi.Comm, g *mpi.Group, want []int) error {
	part, err := c.Create(g)
	if err != nil {
		return err
	}
	if !slices.Contains(want, c.Rank()) {
		if part != nil {
			return errors.New("a communicator for a rank that is not in the group")
		}
		return nil
	}
	got, err := rolls(c, part)
	if err != nil || !slices.Equal(got, want) {
		return fmt.Errorf("%v, %w", got, err)
	}
	_, none := part.Create(nil)
	_, other := part.Create(c.Group())
	return errors.Join(wantError(none, mpi.ErrGroup, part.Rank()), wantError(other, mpi.ErrGroup, part.Rank()))
}

func TestCart(t *testing.T) {
	over(t, 7, func(c *mpi.Comm) error {
		grid, err := c.Cart([]int{2, 3}, []bool{false, true}, true)
		if err != nil {
			return err
		}
		if grid == nil {
			if c.Rank() != 6 {
				return errors.New("a rank is left out")
			}
			return nil
		}
		at, err := grid.Coords(grid.Rank())
		if err != nil || at[0] != grid.Rank()/3 || at[1] != grid.Rank()%3 {
			return fmt.Errorf("at %v, %w", at, err)
		}
		if back, err := grid.RankOf(at[0], at[1]-3); err != nil || back != grid.Rank() {
			return fmt.Errorf("rank %d, %w", back, err)
		}
		up, down, err := grid.Shift(0, 1)
		if err != nil || (at[0] == 0) != (up == mpi.ProcNull) || (at[0] == 1) != (down == mpi.ProcNull) {
			return fmt.Errorf("above %d, below %d, %w", up, down, err)
		}
		for dim := range 2 { // all pass their ranks on
			from, to, err := grid.Shift(dim, 1)
			if err != nil {
				return err
			}
			in := []int{-1}
			if _, err := mpi.Sendrecv(grid.Comm, []int{grid.Rank()}, to, 0, in, from, 0); err != nil {
				return err
			}
			if from != mpi.ProcNull && in[0] != from || from == mpi.ProcNull && in[0] != -1 {
				return fmt.Errorf("%d has come from %d", in[0], from)
			}
		}
		rows, err := grid.Sub(false, true)
		if err != nil {
			return err
		}
		dims, periods := rows.Dims()
		got, err := rolls(grid.Comm, rows.Comm)
		if err != nil || !slices.Equal(dims, []int{3}) || !periods[0] || !slices.Equal(got, []int{3 * at[0], 3*at[0] + 1, 3*at[0] + 2}) {
			return fmt.Errorf("the row %v, %v, %w", dims, got, err)
		}
		_, rank := grid.RankOf(2, 0)
		_, coords := grid.RankOf(1)
		_, _, dim := grid.Shift(2, 1)
		return errors.Join(wantError(rank, mpi.ErrRank, grid.Rank()), wantError(coords, mpi.ErrDims, grid.Rank()), wantError(dim, mpi.ErrDims, grid.Rank()))
	})
}

func TestBadGrids(t *testing.T) {
	world(t, 2, func(c *mpi.Comm) error {
		_, many := c.Cart([]int{2, 2}, []bool{true, true}, false)
		_, none := c.Cart([]int{0}, []bool{true}, false)
		_, wrapped := c.Cart([]int{2, math.MaxInt}, []bool{true, true}, false)
		_, mixed := c.Cart([]int{1}, nil, false)
		return errors.Join(wantError(many, mpi.ErrDims, c.Rank()), wantError(none, mpi.ErrDims, c.Rank()), wantError(wrapped, mpi.ErrDims, c.Rank()), wantError(mixed, mpi.ErrDims, c.Rank()))
	})
}

func TestDims(t *testing.T) {
	for _, c := range []struct {
		n        int
		in, want []int
	}{
		{12, []int{0, 0}, []int{4, 3}}, {12, []int{0, 0, 0}, []int{3, 2, 2}}, {7, []int{0, 0}, []int{7, 1}},
		{12, []int{0, 2, 0}, []int{3, 2, 2}}, {1, []int{0}, []int{1}}, {6, []int{3, 2}, []int{3, 2}},
		{64, []int{0, 0, 0}, []int{4, 4, 4}}, {60, []int{0, 0, 0}, []int{5, 4, 3}}, {1 << 20, []int{0, 0}, []int{1024, 1024}},
	} {
		dims := slices.Clone(c.in)
		if err := mpi.Dims(c.n, dims); err != nil || !slices.Equal(dims, c.want) {
			t.Errorf("%d in %v: %v, %v", c.n, c.in, dims, err)
		}
	}
	if err := mpi.Dims(huge>>1-1, []int{0, 0}); !errors.Is(err, mpi.ErrDims) {
		t.Errorf("more points than ranks: %v", err)
	}
	for _, dims := range [][]int{{5}, {-1}, {5, 0}, {}} {
		if err := mpi.Dims(6, dims); !errors.Is(err, mpi.ErrDims) {
			t.Errorf("%v: %v", dims, err)
		}
	}
}

// TestCommunicatorsOfSeveralGoroutines: a goroutine makes a communicator that others need not wait for, while another one of the rank waits for a
// rank that waits for what the first makes next.
func TestCommunicatorsOfSeveralGoroutines(t *testing.T) {
	unchecked(t)
	overMany(t, 2, func(c *mpi.Comm) error {
		first, err := c.Dup()
		if err != nil {
			return err
		}
		second, err := c.Dup()
		if err != nil {
			return err
		}
		own, err := first.Split(c.Rank(), 0)
		if err != nil {
			return err
		}
		errs := make(chan error, 2)
		make := func(after time.Duration, of ...*mpi.Comm) {
			time.Sleep(after)
			for _, d := range of {
				if _, err := d.Dup(); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}
		const later = 50 * time.Millisecond
		if c.Rank() == 0 {
			go make(0, second)
			go make(later, own, first)
		} else {
			go make(0, first)
			go make(later, second)
		}
		return errors.Join(<-errs, <-errs)
	})
}

// TestNamesStayShort: the name of a communicator that was made from one that was made from one, and so on, does not grow for ever.
func TestNamesStayShort(t *testing.T) {
	world(t, 2, func(c *mpi.Comm) error {
		for range 300 {
			d, err := c.Split(0, 0)
			if err != nil {
				return err
			}
			if c.Name() != "world" {
				err = c.Free()
			}
			if c = d; err != nil {
				return err
			}
		}
		if name := c.Name(); len(name) > 255 || !strings.HasPrefix(name, "world.split0.") || !strings.HasSuffix(name, ".split0") {
			return fmt.Errorf("%d bytes: %q", len(name), name)
		}
		return c.Free()
	})
}
