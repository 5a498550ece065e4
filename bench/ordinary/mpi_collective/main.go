// Command mpi_collective calls Barrier, or Allreduce of 8 B, again and again for a while.
package main

import (
	"flag"
	"time"

	"gomx/bench/ordinary/internal/figure"
	"gomx/mpi"
)

// batch is how many calls are made between two looks at the clock.
const batch = 50

func main() {
	call := flag.String("call", "barrier", "`barrier` or allreduce")
	ms := flag.Int("ms", 500, "how `long`, ms")
	flag.Parse()
	mpi.Main(func(world *mpi.Comm) error { return run(world, *call, *ms) })
}

func run(world *mpi.Comm, call string, ms int) error {
	if _, err := calls(world, call, 0); err != nil {
		return err
	}
	m := figure.Begin()
	n, err := calls(world, call, time.Duration(ms)*time.Millisecond)
	if err != nil {
		return err
	}
	if world.Rank() == 0 {
		m.Each(n)
	} else {
		m.Aside()
	}
	return nil
}

// calls goes on until rank 0 says that it was long enough, and returns how many calls there were.
func calls(world *mpi.Comm, call string, long time.Duration) (n int, err error) {
	in, out, more := []int64{1}, []int64{0}, []int64{1}
	for begin := time.Now(); more[0] > 0; n += batch {
		for range batch {
			if call == "allreduce" {
				err = mpi.Allreduce(world, in, out, mpi.Sum)
			} else {
				err = world.Barrier()
			}
			if err != nil {
				return n, err
			}
		}
		if time.Since(begin) >= long {
			more[0] = 0
		}
		if err := mpi.Bcast(world, more, 0); err != nil {
			return n, err
		}
	}
	return n, nil
}
