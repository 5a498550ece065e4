// Command mpi_collective calls a collective operation again and again for a while. Blocks have as many bytes as -length says:
// all of a message of Bcast, Reduce and Allreduce, and what one rank has for another with Alltoall, Allgather, Gather and Scatter.
package main

import (
	"flag"
	"fmt"

	"gomx/bench/ordinary/internal/repeat"
	"gomx/mpi"
)

func main() {
	call := flag.String("call", "barrier", "`operation`: barrier, bcast, reduce, allreduce, alltoall, allgather, gather or scatter")
	length := flag.Int("length", 8, "of a block, `bytes`, in whole numbers of 8")
	ms := flag.Int("ms", 500, "how `long`, ms")
	flag.Parse()
	mpi.Main(func(world *mpi.Comm) error { return run(world, *call, *length/8, *ms) })
}

func run(world *mpi.Comm, call string, n, ms int) error {
	b := newBuffers(world, n)
	do := b.operation(call)
	if do == nil {
		return fmt.Errorf("there is no operation %q", call)
	}
	err := repeat.Measure(world, ms, 1, func(rounds int) error {
		for range rounds {
			if err := do(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return b.check(call)
}
