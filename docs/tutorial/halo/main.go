// Command halo lets heat spread along a rod that is cut into one piece for each rank.
package main

import (
	"fmt"

	"gomx/mpi"
)

const (
	cells = 60
	steps = 2000
	hot   = 100.0 // temperature that the left end is kept at; the right end is kept at 0
)

// Tags of the messages, by the direction in which they travel.
const (
	toLeft = iota + 1
	toRight
)

func main() {
	mpi.Main(run)
}

func run(world *mpi.Comm) error {
	rank, size := world.Rank(), world.Size()
	if size > cells {
		return fmt.Errorf("%d ranks for %d cells: each rank needs one", size, cells)
	}
	begin, end := cells*rank/size, cells*(rank+1)/size
	n := end - begin

	// The rank's cells are rod[1] to rod[n]. rod[0] and rod[n+1] are the halo: copies of the neighbours' cells.
	rod, next := make([]float64, n+2), make([]float64, n+2)
	left, right := rank-1, rank+1
	if rank == 0 {
		left = mpi.ProcNull
		rod[0], next[0] = hot, hot
	}
	if rank == size-1 {
		right = mpi.ProcNull
	}

	for range steps {
		requests, err := exchange(world, rod, left, right)
		if err != nil {
			return err
		}
		for i := 2; i < n; i++ { // the cells that need no neighbour's
			next[i] = rod[i] + (rod[i-1]-2*rod[i]+rod[i+1])/4
		}
		if err := mpi.WaitAll(requests, nil); err != nil {
			return err
		}
		for _, i := range []int{1, n} {
			next[i] = rod[i] + (rod[i-1]-2*rod[i]+rod[i+1])/4
		}
		rod, next = next, rod
	}
	return report(world, rod[1:n+1])
}

// exchange begins to send the outermost cells, and to receive the neighbours'. From ProcNull nothing comes.
func exchange(world *mpi.Comm, rod []float64, left, right int) ([]mpi.Request, error) {
	n := len(rod) - 2
	var requests []mpi.Request
	for _, begin := range []func() (mpi.Request, error){
		func() (mpi.Request, error) { return mpi.Irecv(world, rod[:1], left, toRight) },
		func() (mpi.Request, error) { return mpi.Irecv(world, rod[n+1:], right, toLeft) },
		func() (mpi.Request, error) { return mpi.Isend(world, rod[1:2], left, toLeft) },
		func() (mpi.Request, error) { return mpi.Isend(world, rod[n:n+1], right, toRight) },
	} {
		r, err := begin()
		if err != nil {
			return nil, err
		}
		requests = append(requests, r)
	}
	return requests, nil
}

// report collects the rod at rank 0, which prints some of it. The pieces may differ in length.
func report(world *mpi.Comm, mine []float64) error {
	counts := make([]int, world.Size())
	for r := range counts {
		counts[r] = cells*(r+1)/world.Size() - cells*r/world.Size()
	}
	whole := make([]float64, cells)
	if err := mpi.Gatherv(world, mine, whole, counts, nil, 0); err != nil {
		return err
	}
	if world.Rank() == 0 {
		for i := 0; i < cells; i += 12 {
			fmt.Printf("cell %2d: %6.3f\n", i, whole[i])
		}
	}
	return nil
}
