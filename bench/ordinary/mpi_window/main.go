// Command mpi_window has rank 0 send many messages at a time, which rank 1 answers with one, by Isend,
// Irecv and WaitAll.
package main

import (
	"flag"

	"gomx/bench/internal/figure"
	"gomx/bench/ordinary/internal/stamp"
	"gomx/mpi"
)

func main() {
	length := flag.Int("length", 8, "of a message, `bytes`")
	count := flag.Int("count", 10_000, "windows")
	window := flag.Int("window", 64, "messages at a time")
	flag.Parse()
	mpi.Main(func(world *mpi.Comm) error { return run(world, *length, *count, *window) })
}

func run(world *mpi.Comm, length, count, window int) error {
	bufs, reqs := make([][]byte, window), make([]mpi.Request, window)
	for i := range bufs {
		bufs[i] = make([]byte, length)
	}
	if err := rounds(world, bufs, reqs, count/10+1); err != nil {
		return err
	}
	m := figure.Begin()
	if err := rounds(world, bufs, reqs, count); err != nil {
		return err
	}
	if world.Rank() == 0 {
		m.Each(count * window)
	} else {
		m.Aside()
	}
	return nil
}

func rounds(world *mpi.Comm, bufs [][]byte, reqs []mpi.Request, count int) (err error) {
	answer := make([]byte, 1)
	for n := range count {
		for i, buf := range bufs {
			if world.Rank() == 0 {
				stamp.Put(buf, n+i)
				reqs[i], err = mpi.Isend(world, buf, 1, 1)
			} else {
				reqs[i], err = mpi.Irecv(world, buf, 0, 1)
			}
			if err != nil {
				return err
			}
		}
		if err := mpi.WaitAll(reqs, nil); err != nil {
			return err
		}
		if world.Rank() == 0 {
			if _, err := mpi.Recv(world, answer, 1, 2); err != nil {
				return err
			}
			continue
		}
		for i, buf := range bufs {
			if err := stamp.Check(buf, n+i); err != nil {
				return err
			}
		}
		if err := mpi.Send(world, answer, 0, 2); err != nil {
			return err
		}
	}
	return nil
}
