// Command ranks computes pi with as many ranks as it is started with.
package main

import (
	"fmt"
	"math"

	"gomx/mpi"
)

func main() {
	mpi.Main(run)
}

// run is what each rank does. An error that it returns ends the whole job.
func run(world *mpi.Comm) error {
	rank, size := world.Rank(), world.Size()

	// Rank 0 knows how many intervals there shall be, and tells the others.
	intervals := []int{0}
	if rank == 0 {
		intervals[0] = 1_000_000
	}
	if err := mpi.Bcast(world, intervals, 0); err != nil {
		return err
	}

	// Each rank takes every size-th interval.
	width := 1 / float64(intervals[0])
	mine := []float64{0}
	for i := rank; i < intervals[0]; i += size {
		x := (float64(i) + 0.5) * width
		mine[0] += 4 / (1 + x*x) * width
	}

	// The sum of all parts arrives at rank 0.
	pi := []float64{0}
	if err := mpi.Reduce(world, mine, pi, mpi.Sum, 0); err != nil {
		return err
	}

	// So does a list of what each rank has contributed.
	parts := make([]float64, size)
	if err := mpi.Gather(world, mine, parts, 0); err != nil {
		return err
	}
	if rank == 0 {
		for r, part := range parts {
			fmt.Printf("rank %d of %d contributed %.3f\n", r, size, part)
		}
		fmt.Printf("pi is about %.9f, off by less than 1e-9: %v\n", pi[0], math.Abs(pi[0]-math.Pi) < 1e-9)
	}
	return nil
}
