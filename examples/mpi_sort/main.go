// Command mpi_sort sorts numbers that are spread over ranks, by sampling: each rank sorts its
// own and offers a few, from which all choose the same limits; then each number moves to the
// rank between whose limits it lies.
//
//	go run ./examples/mpi_sort                          alone
//	go run ./cmd/mx_run -n 4 ./examples/mpi_sort        four processes on this host
//	go build ./examples/mpi_sort && mpiexec.hydra -n 4 ./mpi_sort
//	go build ./examples/mpi_sort && srun --mpi=pmi2 -n 4 ./mpi_sort
//
// It shows Allgather of samples, Alltoall and Alltoallv, and Exscan, which tells each rank
// how many numbers the ranks before it have. The checksum is the same for any number of ranks.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"gomx/examples/internal/block"
	"gomx/examples/internal/mix"
	"gomx/examples/internal/positive"
	"gomx/mpi"
)

func main() {
	numbers := positive.Flag("numbers", 1_000_000, "how many numbers to sort")
	flag.Parse()
	mpi.Main(func(world *mpi.Comm) error { return run(world, *numbers, os.Stdout) })
}

func run(world *mpi.Comm, numbers int, w io.Writer) error {
	begin, end := block.Of(numbers, world.Rank(), world.Size())
	mine := make([]uint64, end-begin)
	for i := range mine {
		mine[i] = mix.Bits(uint64(begin + i))
	}
	if err := world.Barrier(); err != nil { // the clock starts for all at once
		return err
	}
	started := mpi.Wtime()
	mine, err := sortAll(world, mine)
	if err != nil {
		return err
	}
	seconds := mpi.Wtime() - started
	sum, err := check(world, mine, numbers)
	if err != nil || world.Rank() != 0 {
		return err
	}
	_, err = fmt.Fprintf(w, "%d numbers in order, checksum %016x\n%.3f s with %d ranks\n", numbers, sum, seconds, world.Size())
	return err
}

// check looks whether all numbers are there and in order, and returns a sum over all of
// them and their places.
func check(world *mpi.Comm, mine []uint64, numbers int) (uint64, error) {
	place, largest := []int{0}, []uint64{0} // of the ranks before this one; rank 0 keeps these
	if err := mpi.Exscan(world, []int{len(mine)}, place, mpi.Sum); err != nil {
		return 0, err
	}
	last := []uint64{0}
	if len(mine) > 0 {
		last[0] = mine[len(mine)-1]
	}
	if err := mpi.Exscan(world, last, largest, mpi.Max); err != nil {
		return 0, err
	}
	totals := []uint64{0, uint64(len(mine)), 0} // checksum, numbers, and how many are out of order
	before := largest[0]
	for i, x := range mine {
		if x < before {
			totals[2]++
		}
		before = x
		totals[0] += mix.At(place[0]+i, x)
	}
	if err := mpi.Allreduce(world, totals, totals, mpi.Sum); err != nil {
		return 0, err
	}
	if totals[1] != uint64(numbers) || totals[2] != 0 {
		return 0, fmt.Errorf("%d numbers of %d are there, %d out of order", totals[1], numbers, totals[2])
	}
	return totals[0], nil
}
