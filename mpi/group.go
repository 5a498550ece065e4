package mpi

import (
	"cmp"
	"slices"
)

// Group is an ordered set of ranks of the world (MPI_Group). It does not change; its methods make new ones, and may be
// called from any goroutine. The zero Group is the empty one (MPI_GROUP_EMPTY). With no group, nil, those that return errors return ErrGroup, and the others
// take it for the empty one.
type Group struct {
	world []int32 // by rank
	self  int32   // the caller's rank in the world
}

// Comparison says how alike two groups or communicators are (MPI_Comm_compare).
type Comparison int

// The comparisons.
const (
	Identical Comparison = iota // the same communicator, or the same ranks in the same order
	Congruent                   // of communicators: the same ranks in the same order
	Similar                     // the same ranks in another order
	Unequal
)

// Group returns the ranks of the communicator (MPI_Comm_group); of no communicator, no group.
func (c *Comm) Group() *Group {
	if c.none() {
		return nil
	}
	return &Group{c.world, int32(c.seat.rank)}
}

// orEmpty returns the group, or the empty one if there is none.
func (g *Group) orEmpty() *Group {
	if g == nil {
		return &Group{}
	}
	return g
}

// usable returns why calls on the group can't work, if that is so.
func (g *Group) usable(op string) error {
	if g == nil {
		return failOp(op, ErrGroup, "there is no group; Comm.Group makes one")
	}
	return nil
}

// Size returns how many ranks there are (MPI_Group_size).
func (g *Group) Size() int { return len(g.orEmpty().world) }

// Rank returns the caller's rank in the group, or Undefined (MPI_Group_rank).
func (g *Group) Rank() int { return g.orEmpty().rankOf(g.orEmpty().self) }

func (g *Group) rankOf(world int32) int {
	if i := slices.Index(g.world, world); i >= 0 {
		return i
	}
	return Undefined
}

// members returns the ranks by rank in the world.
func (g *Group) members() map[int32]int {
	all := make(map[int32]int, len(g.world))
	for i, w := range g.world {
		all[w] = i
	}
	return all
}

// Union returns the ranks of g, and then those of h that are not in g (MPI_Group_union).
func (g *Group) Union(h *Group) *Group {
	g = g.orEmpty()
	return &Group{append(slices.Clone(g.world), h.Difference(g).world...), g.self}
}

// Intersection returns the ranks of g that are in h (MPI_Group_intersection).
func (g *Group) Intersection(h *Group) *Group { return g.filter(h, true) }

// Difference returns the ranks of g that are not in h (MPI_Group_difference).
func (g *Group) Difference(h *Group) *Group { return g.filter(h, false) }

func (g *Group) filter(h *Group, in bool) *Group {
	g = g.orEmpty()
	members := h.orEmpty().members()
	out := &Group{self: g.self}
	for _, w := range g.world {
		if _, is := members[w]; is == in {
			out.world = append(out.world, w)
		}
	}
	return out
}

// Incl returns the given ranks of g, in that order (MPI_Group_incl). Error: ErrRank for one that there is not, or
// twice.
func (g *Group) Incl(ranks ...int) (*Group, error) { return g.incl("Incl", ranks) }

func (g *Group) incl(op string, ranks []int) (*Group, error) {
	if err := g.check(op, ranks); err != nil {
		return nil, err
	}
	out := &Group{self: g.self}
	for _, r := range ranks {
		out.world = append(out.world, g.world[r])
	}
	return out, nil
}

// Excl returns the ranks of g without the given ones (MPI_Group_excl). Error: as that of Incl.
func (g *Group) Excl(ranks ...int) (*Group, error) { return g.excl("Excl", ranks) }

func (g *Group) excl(op string, ranks []int) (*Group, error) {
	if err := g.check(op, ranks); err != nil {
		return nil, err
	}
	out := &Group{self: g.self}
	for i, w := range g.world {
		if !slices.Contains(ranks, i) {
			out.world = append(out.world, w)
		}
	}
	return out, nil
}

func (g *Group) check(op string, ranks []int) error {
	if err := g.usable(op); err != nil {
		return err
	}
	seen := make(map[int]bool, len(ranks))
	for _, r := range ranks {
		if r < 0 || r >= len(g.world) {
			return failOp(op, ErrRank, "%w", noRank(r, len(g.world)))
		}
		if seen[r] {
			return failOp(op, ErrRank, "%d is there twice", r)
		}
		seen[r] = true
	}
	return nil
}

// RankRange is the ranks First, First+Stride, and so on up to Last.
type RankRange struct{ First, Last, Stride int }

// RangeIncl is Incl of all ranks of some ranges (MPI_Group_range_incl). Error: ErrRank, and ErrArg for a stride of 0.
func (g *Group) RangeIncl(ranges ...RankRange) (*Group, error) {
	const op = "RangeIncl"
	ranks, err := g.expand(op, ranges)
	if err != nil {
		return nil, err
	}
	return g.incl(op, ranks)
}

// RangeExcl is Excl of all ranks of some ranges (MPI_Group_range_excl). Errors as those of RangeIncl.
func (g *Group) RangeExcl(ranges ...RankRange) (*Group, error) {
	const op = "RangeExcl"
	ranks, err := g.expand(op, ranges)
	if err != nil {
		return nil, err
	}
	return g.excl(op, ranks)
}

func (g *Group) expand(op string, ranges []RankRange) ([]int, error) {
	if err := g.usable(op); err != nil {
		return nil, err
	}
	var ranks []int
	for _, r := range ranges {
		if r.Stride == 0 {
			return nil, failOp(op, ErrArg, "a range with a stride of 0")
		}
		for i := r.First; r.Stride > 0 && i <= r.Last || r.Stride < 0 && i >= r.Last; i += r.Stride {
			if i < 0 || i >= len(g.world) {
				return nil, failOp(op, ErrRank, "%w", noRank(i, len(g.world)))
			}
			ranks = append(ranks, i)
			if next := i + r.Stride; (next > i) != (r.Stride > 0) {
				break // it is more than an int can count
			}
		}
	}
	return ranks, nil
}

// Translate returns what ranks of g are in h, Undefined for those that are not there; ProcNull stays
// (MPI_Group_translate_ranks). Errors: ErrRank for one that g does not have, ErrGroup if one of the groups is nil.
func (g *Group) Translate(ranks []int, h *Group) ([]int, error) {
	if err := cmp.Or(g.usable("Translate"), h.usable("Translate")); err != nil {
		return nil, err
	}
	members := h.members()
	out := make([]int, len(ranks))
	for i, r := range ranks {
		if r == ProcNull {
			out[i] = ProcNull
			continue
		}
		if r < 0 || r >= len(g.world) {
			return nil, failOp("Translate", ErrRank, "%w", noRank(r, len(g.world)))
		}
		to, is := members[g.world[r]]
		if !is {
			to = Undefined
		}
		out[i] = to
	}
	return out, nil
}

// Compare returns Identical, Similar or Unequal (MPI_Group_compare).
func (g *Group) Compare(h *Group) Comparison {
	g, h = g.orEmpty(), h.orEmpty()
	switch {
	case slices.Equal(g.world, h.world):
		return Identical
	case len(g.world) == len(h.world) && len(g.Difference(h).world) == 0:
		return Similar
	}
	return Unequal
}
