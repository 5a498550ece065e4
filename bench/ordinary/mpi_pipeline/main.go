// Command mpi_pipeline passes numbers down the ranks one at a time. Each rank but the first receives a number and adds one to
// it, and each but the last sends it on. What is measured is the time for each number, not that of its whole way.
package main

import (
	"flag"
	"fmt"

	"gomx/bench/ordinary/internal/repeat"
	"gomx/mpi"
)

const tag = 1

func main() {
	ms := flag.Int("ms", 500, "how `long`, ms")
	flag.Parse()
	mpi.Main(func(world *mpi.Comm) error {
		return repeat.Measure(world, *ms, numbers, func(rounds int) error { return pass(world, rounds*numbers) })
	})
}

// numbers are in a round: so many that filling and draining the pipeline does not count.
const numbers = 100

func pass(world *mpi.Comm, count int) error {
	rank, last := world.Rank(), world.Size()-1
	buf := make([]int64, 1)
	for i := range int64(count) {
		if rank == 0 {
			buf[0] = i
		} else {
			if _, err := mpi.Recv(world, buf, rank-1, tag); err != nil {
				return err
			}
			buf[0]++
		}
		if buf[0] != i+int64(rank) {
			return fmt.Errorf("rank %d: number %d has become %d", rank, i, buf[0])
		}
		if rank == last {
			continue
		}
		if err := mpi.Send(world, buf, rank+1, tag); err != nil {
			return err
		}
	}
	return nil
}
