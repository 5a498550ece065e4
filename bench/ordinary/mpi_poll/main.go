// Command mpi_poll begins an Iallreduce of 8 B and asks for its end by Test, again and again, or with -wait waits for it.
package main

import (
	"flag"
	"fmt"

	"gomx/bench/ordinary/internal/repeat"
	"gomx/mpi"
)

func main() {
	ms := flag.Int("ms", 500, "how `long`, ms")
	wait := flag.Bool("wait", false, "wait by Wait")
	flag.Parse()
	end := poll
	if *wait {
		end = func(q *mpi.Request) error { _, err := q.Wait(); return err }
	}
	mpi.Main(func(world *mpi.Comm) error {
		return repeat.Measure(world, *ms, 1, func(rounds int) error { return sums(world, rounds, end) })
	})
}

func sums(world *mpi.Comm, rounds int, end func(q *mpi.Request) error) error {
	size := int64(world.Size())
	in, out := make([]int64, 1), make([]int64, 1)
	for i := range int64(rounds) {
		in[0] = i + int64(world.Rank())
		q, err := mpi.Iallreduce(world, in, out, mpi.Sum)
		if err != nil {
			return err
		}
		if err := end(&q); err != nil {
			return err
		}
		if want := size*i + size*(size-1)/2; out[0] != want {
			return fmt.Errorf("rank %d: the sum is %d, not %d", world.Rank(), out[0], want)
		}
	}
	return nil
}

func poll(q *mpi.Request) error {
	for {
		if _, done, err := q.Test(); done || err != nil {
			return err
		}
	}
}
