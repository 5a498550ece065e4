// Command mpi_job is a short job: a Barrier, 100 Allreduce of 8 B, an Alltoall of 8 B. What is measured is the time from the
// start of the launcher to its end, in seconds, which the caller takes; the job itself prints the part of it that rank 0
// sees. With -first it is only an Alltoall of 8 B, the first thing that all ranks do with all others after a Barrier, in
// milliseconds.
package main

import (
	"flag"
	"fmt"
	"time"

	"gomx/bench/internal/figure"
	"gomx/mpi"
)

func main() {
	first := flag.Bool("first", false, "measure the first Alltoall")
	count := flag.Int("count", 100, "Allreduce operations")
	flag.Parse()
	began := figure.Begin()
	mpi.Main(func(world *mpi.Comm) error {
		if *first {
			return alltoallFirst(world)
		}
		return job(world, began, *count)
	})
}

func job(world *mpi.Comm, began figure.Meter, count int) error {
	since := time.Now()
	if err := world.Barrier(); err != nil {
		return err
	}
	sum := []int64{0}
	for i := range count {
		if err := mpi.Allreduce(world, []int64{int64(world.Rank() + i)}, sum, mpi.Sum); err != nil {
			return err
		}
		if n := world.Size(); sum[0] != int64(n*(n-1)/2+n*i) {
			return fmt.Errorf("number %d of Allreduce is %d", i, sum[0])
		}
	}
	if err := alltoall(world); err != nil {
		return err
	}
	if world.Rank() == 0 {
		began.Print(time.Since(since).Seconds(), 1)
	} else {
		began.Aside()
	}
	return nil
}

// alltoallFirst ends with a Barrier, so that the slowest rank counts.
func alltoallFirst(world *mpi.Comm) error {
	if err := world.Barrier(); err != nil {
		return err
	}
	m, since := figure.Begin(), time.Now()
	if err := alltoall(world); err != nil {
		return err
	}
	if err := world.Barrier(); err != nil {
		return err
	}
	if world.Rank() == 0 {
		m.Print(time.Since(since).Seconds()*1e3, 1)
	} else {
		m.Aside()
	}
	return nil
}

// alltoall has each rank tell each other one the product of their numbers.
func alltoall(world *mpi.Comm) error {
	in, out := make([]int64, world.Size()), make([]int64, world.Size())
	for i := range in {
		in[i] = int64(i * world.Rank())
	}
	if err := mpi.Alltoall(world, in, out); err != nil {
		return err
	}
	for i, got := range out {
		if got != in[i] {
			return fmt.Errorf("rank %d has sent %d to rank %d by Alltoall", i, got, world.Rank())
		}
	}
	return nil
}
