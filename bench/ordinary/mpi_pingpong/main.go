// Command mpi_pingpong sends a message to and fro between two ranks, with Send and Recv.
package main

import (
	"flag"

	"gomx/bench/internal/figure"
	"gomx/bench/ordinary/internal/stamp"
	"gomx/mpi"
)

func main() {
	length := flag.Int("length", 8, "of a message, `bytes`")
	count := flag.Int("count", 100_000, "round trips")
	single := flag.Bool("single", false, "promise that one goroutine makes calls")
	flag.Parse()
	var opts []mpi.Option
	if *single {
		opts = append(opts, mpi.WithThreadLevel(mpi.ThreadSingle))
	}
	mpi.Main(func(world *mpi.Comm) error { return run(world, *length, *count) }, opts...)
}

func run(world *mpi.Comm, length, count int) error {
	buf := make([]byte, length)
	if err := rounds(world, buf, count/10+1); err != nil {
		return err
	}
	m := figure.Begin()
	if err := rounds(world, buf, count); err != nil {
		return err
	}
	if world.Rank() == 0 {
		m.Each(2 * count)
	} else {
		m.Aside()
	}
	return nil
}

func rounds(world *mpi.Comm, buf []byte, count int) error {
	for i := range count {
		if world.Rank() == 0 {
			stamp.Put(buf, i)
			if err := mpi.Send(world, buf, 1, 1); err != nil {
				return err
			}
			if _, err := mpi.Recv(world, buf, 1, 1); err != nil {
				return err
			}
			if err := stamp.Check(buf, i+1); err != nil {
				return err
			}
			continue
		}
		if _, err := mpi.Recv(world, buf, 0, 1); err != nil {
			return err
		}
		if err := stamp.Check(buf, i); err != nil {
			return err
		}
		stamp.Put(buf, i+1)
		if err := mpi.Send(world, buf, 0, 1); err != nil {
			return err
		}
	}
	return nil
}
