package main

import (
	"math"

	"gomx/examples/internal/block"
	"gomx/examples/internal/mix"
	"gomx/mpi"
)

const (
	interval = 1e-3 // of time, between steps
	softness = 1e-2 // of the attraction at short distance, so that no force is infinite
)

// vector is a place, or a velocity. A type like this, with no pointers in it, travels as it is.
type vector [3]float64

// system is all bodies as one rank sees them. They weigh 1 together.
type system struct {
	world          *mpi.Comm
	counts, displs []int    // the bodies of all ranks
	positions      []vector // of all bodies
	mine           []vector // the part of positions that is this rank's
	velocities     []vector // of my bodies
	mass           float64  // of each
}

func newSystem(world *mpi.Comm, bodies int) *system {
	s := &system{world: world, positions: make([]vector, bodies), mass: 1 / float64(bodies)}
	for i := range s.positions {
		for d := range 3 {
			s.positions[i][d] = mix.Unit(uint64(3*i+d)) - 0.5
		}
	}
	s.counts, s.displs = block.All(bodies, world.Size())
	begin, end := block.Of(bodies, world.Rank(), world.Size())
	s.mine = s.positions[begin:end]
	s.velocities = make([]vector, len(s.mine))
	return s
}

// step moves my bodies, and then learns where the others are.
func (s *system) step() error {
	for i, here := range s.mine {
		pull := s.pull(here)
		for d := range 3 {
			s.velocities[i][d] += interval * pull[d]
		}
	}
	for i, v := range s.velocities {
		for d := range 3 {
			s.mine[i][d] += interval * v[d]
		}
	}
	return mpi.Allgatherv(s.world, s.mine, s.positions, s.counts, s.displs)
}

// pull is the acceleration of a body. A body's own distance is 0 and adds nothing.
func (s *system) pull(here vector) (sum vector) {
	for _, there := range s.positions {
		x, y, z := there[0]-here[0], there[1]-here[1], there[2]-here[2]
		square := x*x + y*y + z*z + softness*softness
		f := s.mass / (square * math.Sqrt(square))
		sum[0] += f * x
		sum[1] += f * y
		sum[2] += f * z
	}
	return sum
}

// energy returns at rank 0 the energy of all bodies, and zero at the others. The energies of
// bodies come together first and are added in the order of bodies: an Allreduce of each
// rank's sum would round differently for other numbers of ranks.
func (s *system) energy() (sum float64, err error) {
	mine, all := make([]float64, len(s.mine)), make([]float64, len(s.positions))
	for i, here := range s.mine {
		mine[i] = s.mass * (s.kinetic(i) + s.potential(s.displs[s.world.Rank()]+i, here))
	}
	if err := mpi.Gatherv(s.world, mine, all, s.counts, s.displs, 0); err != nil {
		return 0, err
	}
	for _, e := range all {
		sum += e
	}
	return sum, nil
}

func (s *system) kinetic(i int) float64 {
	v := s.velocities[i]
	return (v[0]*v[0] + v[1]*v[1] + v[2]*v[2]) / 2
}

// potential is half of what a body has towards all others: the other half is theirs.
func (s *system) potential(me int, here vector) (sum float64) {
	for i, there := range s.positions {
		if i != me {
			x, y, z := there[0]-here[0], there[1]-here[1], there[2]-here[2]
			sum -= s.mass / math.Sqrt(x*x+y*y+z*z+softness*softness) / 2
		}
	}
	return sum
}
