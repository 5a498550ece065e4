// Command mpi_late has rank 1 send messages while rank 0 computes, and receives them later. What is
// measured is the time until all are received, in seconds, without that in which rank 0 was away. Nothing has connected the two before.
package main

import (
	"flag"
	"time"

	"gomx/bench/internal/figure"
	"gomx/mpi"
)

func main() {
	length := flag.Int("length", 500, "of a message, `bytes`")
	count := flag.Int("count", 300_000, "messages")
	late := flag.Int("late", 3000, "how late the receiver is, `ms`")
	flag.Parse()
	mpi.Main(func(world *mpi.Comm) error { return run(world, *length, *count, *late) })
}

func run(world *mpi.Comm, length, count, late int) error {
	buf := make([]byte, length)
	m := figure.Begin()
	if world.Rank() == 1 {
		for range count {
			if err := mpi.Send(world, buf, 0, 1); err != nil {
				return err
			}
		}
		m.Aside()
		return nil
	}
	time.Sleep(time.Duration(late) * time.Millisecond) // it computes
	begin := time.Now()
	for range count {
		if _, err := mpi.Recv(world, buf, 1, 1); err != nil {
			return err
		}
	}
	m.Print(time.Since(begin).Seconds(), count)
	return nil
}
