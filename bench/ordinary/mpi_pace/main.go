// Command mpi_pace sends two messages in a row, computes for a while, and so on. What is measured is how long the second is on
// its way, while its sender makes no call: the median, by the clock of the host.
package main

import (
	"flag"
	"slices"
	"time"

	"gomx/bench/internal/figure"
	"gomx/mpi"
)

const tag = 1

func main() {
	count := flag.Int("count", 2000, "pairs of messages")
	gap := flag.Duration("gap", 100*time.Microsecond, "how `long` the sender computes between them")
	flag.Parse()
	mpi.Main(func(world *mpi.Comm) error {
		pass := receive
		if world.Rank() == 0 {
			pass = func(world *mpi.Comm, count int) ([]float64, error) { return nil, send(world, count, *gap) }
		}
		if _, err := pass(world, *count/10+1); err != nil {
			return err
		}
		m := figure.Begin()
		ways, err := pass(world, *count)
		if err != nil {
			return err
		}
		if world.Rank() == 0 {
			m.Aside()
			return nil
		}
		slices.Sort(ways)
		m.Print(ways[len(ways)/2], *count)
		return nil
	})
}

func send(world *mpi.Comm, count int, gap time.Duration) error {
	buf := make([]int64, 1)
	for range count {
		for begin := time.Now(); time.Since(begin) < gap; {
		}
		if err := mpi.Send(world, buf, 1, tag); err != nil {
			return err
		}
		buf[0] = time.Now().UnixNano()
		if err := mpi.Send(world, buf, 1, tag); err != nil {
			return err
		}
	}
	return nil
}

// receive returns how long each second message was on its way, in microseconds.
func receive(world *mpi.Comm, count int) (ways []float64, err error) {
	buf := make([]int64, 1)
	for range count {
		for range 2 {
			if _, err := mpi.Recv(world, buf, 0, tag); err != nil {
				return nil, err
			}
		}
		ways = append(ways, float64(time.Now().UnixNano()-buf[0])/1e3)
	}
	return ways, nil
}
