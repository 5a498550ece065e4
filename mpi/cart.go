package mpi

import "slices"

// Cart is a communicator whose ranks are the points of a grid; the last coordinate runs fastest
// (MPI_Cart_create). It has the methods of its communicator. Of no grid, which is a nil Cart, as a rank gets that is left out, or a zero one, methods
// return ErrComm.
type Cart struct {
	*Comm
	dims    []int
	periods []bool
}

// Cart makes a communicator of a grid out of the first ranks of c (MPI_Cart_create); the others get nil. A dimension
// that is periodic has no ends. The ranks are not reordered, whatever reorder says: a host's ranks
// follow each other in the world. All ranks call it. Errors: ErrDims for sizes below 1, or for more points than ranks, and those of
// Dup.
func (c *Comm) Cart(dims []int, periods []bool, reorder bool) (*Cart, error) {
	const op = "Cart"
	_ = reorder
	if err := c.usable(op); err != nil {
		return nil, err
	}
	if len(periods) != len(dims) {
		return nil, c.fail(op, ErrDims, "%d dimensions, and for %d it is said whether they are periodic", len(dims), len(periods))
	}
	points := 1
	for d, n := range dims {
		if n < 1 {
			return nil, c.fail(op, ErrDims, "dimension %d has %d points", d, n)
		}
		if n > c.Size()/points {
			return nil, c.fail(op, ErrDims, "a grid of %v has more points than there are ranks, %d", dims, c.Size())
		}
		points *= n
	}
	grid, err := c.among(op, c.world[:points], ".cart", c.given("dimensions %v, periodic %v", dims, periods))
	if grid == nil {
		return nil, err
	}
	return &Cart{grid, slices.Clone(dims), slices.Clone(periods)}, nil
}

// communicator returns that of the grid, or nil if there is no grid.
func (g *Cart) communicator() *Comm {
	if g == nil {
		return nil
	}
	return g.Comm
}

// exists returns the error of a call on no grid.
func (g *Cart) exists(op string) error {
	if g.communicator().none() {
		return failOp(op, ErrComm, "there is no grid: Comm.Cart makes one, of a communicator that Init, Run or Main make, and none for a rank that it leaves out")
	}
	return nil
}

// Dims returns the sizes of the grid, and whether they are periodic (MPI_Cart_get).
func (g *Cart) Dims() (dims []int, periods []bool) {
	if g == nil {
		return nil, nil
	}
	return slices.Clone(g.dims), slices.Clone(g.periods)
}

// Coords returns the point of a rank (MPI_Cart_coords). Error: ErrRank.
func (g *Cart) Coords(rank int) ([]int, error) {
	if err := g.exists("Coords"); err != nil {
		return nil, err
	}
	if rank < 0 || rank >= g.Size() {
		return nil, g.failWith("Coords", rank, Undefined, ErrRank, noRank(rank, g.Size()))
	}
	at := make([]int, len(g.dims))
	for d := len(g.dims) - 1; d >= 0; d-- {
		at[d] = rank % g.dims[d]
		rank /= g.dims[d]
	}
	return at, nil
}

// RankOf returns the rank of a point (MPI_Cart_rank). In periodic dimensions any coordinate will do. Errors: ErrDims for
// another number of coordinates, ErrRank for a point outside.
func (g *Cart) RankOf(coords ...int) (int, error) {
	if err := g.exists("RankOf"); err != nil {
		return Undefined, err
	}
	if len(coords) != len(g.dims) {
		return Undefined, g.fail("RankOf", ErrDims, "%d coordinates in %d dimensions", len(coords), len(g.dims))
	}
	rank := 0
	for d, at := range coords {
		n := g.dims[d]
		if g.periods[d] {
			at = (at%n + n) % n
		}
		if at < 0 || at >= n {
			return Undefined, g.fail("RankOf", ErrRank, "coordinate %d is %d, of 0 to %d", d, at, n-1)
		}
		rank = rank*n + at
	}
	return rank, nil
}

// Shift returns the ranks that lie disp points before and behind the caller in a dimension: whom to receive from, and whom to
// send to, if all pass something on in that direction (MPI_Cart_shift). Beyond an end it is ProcNull. Error:
// ErrDims for no such dimension.
func (g *Cart) Shift(dim, disp int) (source, dest int, err error) {
	if err := g.exists("Shift"); err != nil {
		return ProcNull, ProcNull, err
	}
	if dim < 0 || dim >= len(g.dims) {
		return ProcNull, ProcNull, g.fail("Shift", ErrDims, "dimension %d of %d", dim, len(g.dims))
	}
	at, err := g.Coords(g.rank)
	if err != nil {
		return ProcNull, ProcNull, err
	}
	if g.periods[dim] {
		disp %= g.dims[dim] // the sum with a coordinate might not fit into an int
	}
	here := at[dim]
	beside := func(offset int) int {
		at[dim] = here + offset
		rank, err := g.RankOf(at...)
		if err != nil {
			return ProcNull
		}
		return rank
	}
	return beside(-disp), beside(disp), nil
}

// Sub makes a grid of those dimensions that are kept, one for each combination of the others (MPI_Cart_sub). All ranks call it.
// Errors: ErrDims for another number of dimensions, and those of Dup.
func (g *Cart) Sub(keep ...bool) (*Cart, error) {
	if err := g.exists("Sub"); err != nil {
		return nil, err
	}
	if len(keep) != len(g.dims) {
		return nil, g.fail("Sub", ErrDims, "%d dimensions, and for %d it is said whether they stay", len(g.dims), len(keep))
	}
	at, err := g.Coords(g.rank)
	if err != nil {
		return nil, err
	}
	sub := &Cart{}
	color, key := 0, 0
	for d, n := range g.dims {
		if keep[d] {
			sub.dims, sub.periods = append(sub.dims, n), append(sub.periods, g.periods[d])
			key = key*n + at[d]
		} else {
			color = color*n + at[d]
		}
	}
	if sub.Comm, err = g.split("Sub", color, key, g.given("keep %v", keep)); err != nil {
		return nil, err
	}
	return sub, nil
}

// Dims fills in the dimensions that are 0, so that the product is n and they are as equal as can be, the first ones not
// smaller than the later (MPI_Dims_create). Error: ErrDims if no such sizes exist, or for more points than a job can have ranks.
func Dims(n int, dims []int) error {
	open, rest := 0, n
	for _, d := range dims {
		switch {
		case d < 0:
			return failOp("Dims", ErrDims, "a size of %d", d)
		case d == 0:
			open++
		case rest%d != 0:
			return failOp("Dims", ErrDims, "%v does not divide %d", dims, n)
		default:
			rest /= d
		}
	}
	if n > maxRanks {
		return failOp("Dims", ErrDims, "%d points, a job has at most %d ranks", n, maxRanks)
	}
	if n < 1 || open == 0 && rest != 1 {
		return failOp("Dims", ErrDims, "%v is no grid of %d points", dims, n)
	}
	sizes := balanced(rest, open)
	for i, d := range dims {
		if d == 0 {
			dims[i], sizes = sizes[0], sizes[1:]
		}
	}
	return nil
}
