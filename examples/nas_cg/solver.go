package main

import (
	"math"

	"gomx/examples/internal/block"
	"gomx/mpi"
)

// iterations is how many the benchmark prescribes for each system.
const iterations = 25

// solver is one rank's part of the work: some rows of the matrix, and the same rows of the
// vectors.
type solver struct {
	world          *mpi.Comm
	shift          float64
	a              *matrix
	counts, displs []int     // the rows of all ranks
	whole          []float64 // all rows of the vector that the matrix is multiplied with
	mine           []float64 // my part of whole
	x, z, q, r     []float64
}

func newSolver(world *mpi.Comm, p problem) *solver {
	begin, end := block.Of(p.rows, world.Rank(), world.Size())
	s := &solver{world: world, shift: p.shift, a: makeMatrix(p, begin, end), whole: make([]float64, p.rows)}
	s.counts, s.displs = block.All(p.rows, world.Size())
	s.mine = s.whole[begin:end]
	for _, v := range []*[]float64{&s.x, &s.z, &s.q, &s.r} {
		*v = make([]float64, end-begin)
	}
	s.reset()
	return s
}

// reset takes the first guess at the eigenvector.
func (s *solver) reset() {
	for i := range s.x {
		s.x[i] = 1
	}
}

// step makes a step of the inverse power method: it solves A z = x, takes the estimate of
// the eigenvalue from x and z, and makes z, of length 1, the next x.
func (s *solver) step() (zeta, residual float64, err error) {
	if residual, err = s.solve(); err != nil {
		return 0, 0, err
	}
	sums := []float64{dot(s.x, s.z), dot(s.z, s.z)}
	if err = mpi.Allreduce(s.world, sums, sums, mpi.Sum); err != nil {
		return 0, 0, err
	}
	length := math.Sqrt(sums[1])
	for i, z := range s.z {
		s.x[i] = z / length
	}
	return s.shift + 1/sums[0], residual, nil
}

// solve makes z by conjugate gradients, and returns how long x - A z is.
func (s *solver) solve() (residual float64, err error) {
	clear(s.z)
	copy(s.r, s.x)
	copy(s.mine, s.x)
	rho, err := s.sum(dot(s.r, s.r))
	for i := 0; i < iterations && err == nil; i++ {
		rho, err = s.iterate(rho)
	}
	if err != nil {
		return 0, err
	}
	copy(s.mine, s.z)
	if err := s.multiply(); err != nil {
		return 0, err
	}
	square := 0.0
	for i, q := range s.q {
		d := s.x[i] - q
		square += d * d
	}
	square, err = s.sum(square)
	return math.Sqrt(square), err
}

// iterate improves z along the direction that is in whole, and puts the next direction there.
func (s *solver) iterate(rho float64) (next float64, err error) {
	if err := s.multiply(); err != nil {
		return 0, err
	}
	along, err := s.sum(dot(s.mine, s.q))
	if err != nil {
		return 0, err
	}
	alpha, square := rho/along, 0.0
	for i, p := range s.mine {
		s.z[i] += alpha * p
		r := s.r[i] - alpha*s.q[i]
		s.r[i] = r
		square += r * r
	}
	if next, err = s.sum(square); err != nil {
		return 0, err
	}
	beta := next / rho
	for i, r := range s.r {
		s.mine[i] = r + beta*s.mine[i]
	}
	return next, nil
}

// multiply takes from all ranks the rows of the vector in whole, and makes q, my rows of
// the matrix times that.
func (s *solver) multiply() error {
	if err := mpi.Allgatherv(s.world, s.mine, s.whole, s.counts, s.displs); err != nil {
		return err
	}
	s.a.times(s.whole, s.q)
	return nil
}

// sum adds a number of all ranks.
func (s *solver) sum(x float64) (float64, error) {
	all := []float64{x}
	err := mpi.Allreduce(s.world, all, all, mpi.Sum)
	return all[0], err
}

func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
