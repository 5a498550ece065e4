// Command mpi_halo has ranks step through a stencil of five points on a plate, of which each has a rectangle. In each step a rank exchanges
// the cells along its edges with its neighbours, by Irecv, Isend and WaitAll, and computes. What is measured is a step.
package main

import (
	"flag"

	"gomx/bench/ordinary/internal/repeat"
	"gomx/mpi"
)

func main() {
	ms := flag.Int("ms", 500, "how `long`, ms")
	cells := flag.Int("cells", 128, "`number` of cells along each edge of the plate")
	flag.Parse()
	mpi.Main(func(world *mpi.Comm) error { return run(world, *ms, *cells) })
}

func run(world *mpi.Comm, ms, cells int) error {
	p, err := newPlate(world, cells)
	if err != nil {
		return err
	}
	if err := repeat.Measure(world, ms, 1, p.steps); err != nil {
		return err
	}
	return p.check()
}
