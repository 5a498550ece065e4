// Command mpi_incast has all other ranks send to rank 0 at once, many messages at a time, by Isend and WaitAll. Rank 0
// receives from AnySource, as many at a time, by Irecv and WaitAll.
package main

import (
	"flag"
	"fmt"

	"gomx/bench/internal/figure"
	"gomx/bench/ordinary/internal/stamp"
	"gomx/mpi"
)

const length = 8

func main() {
	count := flag.Int("count", 500_000, "messages of all ranks")
	window := flag.Int("window", 64, "messages at a time")
	flag.Parse()
	mpi.Main(func(world *mpi.Comm) error { return run(world, *count, *window) })
}

func run(world *mpi.Comm, count, window int) error {
	senders := world.Size() - 1
	windows := max(1, count/(senders*window))
	bufs, reqs := make([][length]byte, window), make([]mpi.Request, window)
	do := func(windows int) error {
		if err := world.Barrier(); err != nil {
			return err
		}
		if world.Rank() > 0 {
			return send(world, bufs, reqs, windows)
		}
		return receive(world, bufs, reqs, windows*senders)
	}
	if err := do(windows/10 + 1); err != nil {
		return err
	}
	m := figure.Begin()
	if err := do(windows); err != nil {
		return err
	}
	if world.Rank() == 0 {
		m.Each(windows * window * senders)
	} else {
		m.Aside()
	}
	return nil
}

func send(world *mpi.Comm, bufs [][length]byte, reqs []mpi.Request, windows int) (err error) {
	for range windows {
		for i := range bufs {
			stamp.Put(bufs[i][:], world.Rank())
			if reqs[i], err = mpi.Isend(world, bufs[i][:], 0, 1); err != nil {
				return err
			}
		}
		if err := mpi.WaitAll(reqs, nil); err != nil {
			return err
		}
	}
	return nil
}

func receive(world *mpi.Comm, bufs [][length]byte, reqs []mpi.Request, windows int) (err error) {
	status := make([]mpi.Status, len(reqs))
	for range windows {
		for i := range bufs {
			if reqs[i], err = mpi.Irecv(world, bufs[i][:], mpi.AnySource, 1); err != nil {
				return err
			}
		}
		if err := mpi.WaitAll(reqs, status); err != nil {
			return err
		}
		for i := range bufs {
			if err := stamp.Check(bufs[i][:], status[i].Source); err != nil {
				return fmt.Errorf("a message of rank %d: %w", status[i].Source, err)
			}
		}
	}
	return nil
}
