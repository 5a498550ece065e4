// Command mpi_nbody moves bodies that attract each other. Each rank has some of them; in
// each step all tell all where theirs are.
//
//	go run ./examples/mpi_nbody                          alone
//	go run ./cmd/mx_run -n 4 ./examples/mpi_nbody        four processes on this host
//	go build ./examples/mpi_nbody && mpiexec.hydra -n 4 ./mpi_nbody
//	go build ./examples/mpi_nbody && srun --mpi=pmi2 -n 4 ./mpi_nbody
//
// It shows messages of a type of the program's own, Allgatherv in place, and Gatherv. Each
// body adds up the forces of all others in the order of bodies, not of ranks, and so the
// checksum is the same for any number of ranks.
package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"

	"gomx/examples/internal/mix"
	"gomx/examples/internal/positive"
	"gomx/mpi"
)

func main() {
	bodies := positive.Flag("bodies", 1000, "how many bodies there are")
	steps := positive.Flag("steps", 20, "how many steps of time")
	flag.Parse()
	mpi.Main(func(world *mpi.Comm) error { return run(world, *bodies, *steps, os.Stdout) })
}

func run(world *mpi.Comm, bodies, steps int, w io.Writer) error {
	s := newSystem(world, bodies)
	before, err := s.energy()
	if err != nil {
		return err
	}
	started := mpi.Wtime()
	for range steps {
		if err := s.step(); err != nil {
			return err
		}
	}
	seconds := mpi.Wtime() - started
	after, err := s.energy()
	if err != nil || world.Rank() != 0 {
		return err
	}
	sum := uint64(0)
	for i, p := range s.positions {
		for d, x := range p {
			sum += mix.At(3*i+d, math.Float64bits(x))
		}
	}
	_, err = fmt.Fprintf(w, "%d bodies, %d steps: energy %.12f, then %.12f\nchecksum %016x\n%.3f s with %d ranks, %.1f million pairs/s\n",
		bodies, steps, before, after, sum, seconds, world.Size(), float64(bodies)*float64(bodies)*float64(steps)/seconds/1e6)
	return err
}
