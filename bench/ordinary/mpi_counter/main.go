// Command mpi_counter has all ranks count by a number in the memory of rank 0, with FetchAndOp. With -turns a rank spins on the number until
// it is its turn to add to it.
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
	turns := flag.Bool("turns", false, "take turns")
	flag.Parse()
	mpi.Main(func(world *mpi.Comm) error { return run(world, *ms, *turns) })
}

func run(world *mpi.Comm, ms int, turns bool) error {
	win, err := mpi.WinAllocate[int64](world, 1)
	if err != nil {
		return err
	}
	if err := win.LockAll(); err != nil {
		return err
	}
	c := &counter{world: world, win: win}
	count := c.add
	if turns {
		count = c.takeTurns
	}
	if err := repeat.Measure(world, ms, world.Size(), count); err != nil {
		return err
	}
	return errors.Join(c.check(), win.UnlockAll(), win.Free())
}

// counter is a rank's view of the number.
type counter struct {
	world *mpi.Comm
	win   *mpi.Win[int64]
	added int64 // by this rank
}

func (c *counter) add(rounds int) error {
	for last := int64(-1); rounds > 0; rounds-- {
		old, err := c.win.FetchAndOp(1, 0, 0, mpi.AccSum)
		if err != nil {
			return err
		}
		if old <= last {
			return fmt.Errorf("rank %d: the number has gone from %d to %d", c.world.Rank(), last, old)
		}
		last = old
		c.added++
	}
	return nil
}

func (c *counter) takeTurns(rounds int) error {
	size := int64(c.world.Size())
	for range rounds {
		own := c.added*size + int64(c.world.Rank())
		for now := int64(-1); now != own; {
			var err error
			if now, err = c.win.FetchAndOp(0, 0, 0, mpi.AccNone); err != nil {
				return err
			}
			if now > own {
				return fmt.Errorf("rank %d: the number is %d before it was %d", c.world.Rank(), now, own)
			}
		}
		if _, err := c.win.FetchAndOp(1, 0, 0, mpi.AccSum); err != nil {
			return err
		}
		c.added++
	}
	return nil
}

// check compares the number with what all ranks have added.
func (c *counter) check() error {
	all := []int64{c.added}
	if err := mpi.Allreduce(c.world, all, all, mpi.Sum); err != nil {
		return err
	}
	now, err := c.win.FetchAndOp(0, 0, 0, mpi.AccNone)
	if err == nil && now != all[0] {
		err = fmt.Errorf("the number is %d after %d additions", now, all[0])
	}
	return err
}
