// Command mpi_heat lets heat spread over a plate, one of whose edges is hot. Each rank has a
// rectangle of the plate; in each step it takes from its four neighbours the cells along
// their common edges.
//
//	go run ./examples/mpi_heat                          alone
//	go run ./cmd/mx_run -n 4 ./examples/mpi_heat        four processes on this host
//	go build ./examples/mpi_heat && mpiexec.hydra -n 4 ./mpi_heat
//	go build ./examples/mpi_heat && srun --mpi=pmi2 -n 4 ./mpi_heat
//
// It shows a Cartesian communicator, which knows the neighbours, columns of a matrix sent as
// they lie in memory, by a layout, and computing while messages are under way. The checksum is
// the same for any number of ranks.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"gomx/examples/internal/positive"
	"gomx/mpi"
)

func main() {
	rows := positive.Flag("rows", 500, "cells from top to bottom")
	columns := positive.Flag("columns", 500, "cells from left to right")
	steps := positive.Flag("steps", 500, "how many steps of time")
	flag.Parse()
	mpi.Main(func(world *mpi.Comm) error { return run(world, *rows, *columns, *steps, os.Stdout) })
}

func run(world *mpi.Comm, rows, columns, steps int, w io.Writer) error {
	p, err := newPlate(world, rows, columns)
	if err != nil {
		return err
	}
	started := mpi.Wtime()
	for range steps {
		if err := p.step(); err != nil {
			return err
		}
	}
	seconds := mpi.Wtime() - started
	change := []float64{p.change}
	if err := mpi.Allreduce(world, change, change, mpi.Max); err != nil {
		return err
	}
	sum := []uint64{p.checksum()}
	if err := mpi.Allreduce(world, sum, sum, mpi.Sum); err != nil {
		return err
	}
	if world.Rank() != 0 {
		return nil
	}
	_, err = fmt.Fprintf(w, "%d x %d cells, %d steps: the last one changed no cell by more than %.6g\nchecksum %016x\n%.3f s with %d x %d ranks, %.1f million cells/s\n",
		rows, columns, steps, change[0], sum[0], seconds, p.grid[0], p.grid[1], float64(rows*columns)*float64(steps)/seconds/1e6)
	return err
}
