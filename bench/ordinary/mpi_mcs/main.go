// Command mpi_mcs has all ranks take a lock that is made of one-sided operations, that of Mellor-Crummey and Scott, and under it
// count by a number in the memory of rank 0, with Get and Put. What is measured is the time for each turn.
package main

import (
	"errors"
	"flag"
	"fmt"

	"gomx/bench/ordinary/internal/repeat"
	"gomx/mpi"
)

func main() {
	ms := flag.Int("ms", 500, "how `long`, ms")
	flag.Parse()
	mpi.Main(func(world *mpi.Comm) error { return run(world, *ms) })
}

func run(world *mpi.Comm, ms int) error {
	win, err := mpi.WinAllocate[int32](world, words)
	if err != nil {
		return err
	}
	if err := win.LockAll(); err != nil {
		return err
	}
	l := &lock{win: win, rank: world.Rank()}
	if err := repeat.Measure(world, ms, world.Size(), func(rounds int) error { return count(l, rounds) }); err != nil {
		return err
	}
	return errors.Join(check(world, l), win.UnlockAll(), win.Free())
}

func count(l *lock, rounds int) error {
	number := make([]int32, 1)
	for range rounds {
		if err := l.acquire(); err != nil {
			return err
		}
		if err := errors.Join(l.win.Get(number, 0, guarded), l.win.Flush(0)); err != nil {
			return err
		}
		number[0]++
		if err := errors.Join(l.win.Put(number, 0, guarded), l.win.Flush(0)); err != nil {
			return err
		}
		if err := l.release(); err != nil {
			return err
		}
		l.turns++
	}
	return nil
}

// check compares the number with the turns of all ranks.
func check(world *mpi.Comm, l *lock) error {
	all, number := []int32{l.turns}, make([]int32, 1)
	if err := mpi.Allreduce(world, all, all, mpi.Sum); err != nil {
		return err
	}
	if err := errors.Join(l.win.Get(number, 0, guarded), l.win.Flush(0)); err != nil {
		return err
	}
	if number[0] != all[0] {
		return fmt.Errorf("the number is %d after %d turns", number[0], all[0])
	}
	return nil
}
