// Command counters has ranks draw work from a counter, and count in a table, in the memory of other ranks.
package main

import (
	"fmt"

	"gomx/mpi"
)

const (
	limit = 100_000 // numbers to look at
	draw  = 100     // numbers that a rank draws at a time
	digit = 10      // the table counts numbers by their last digit
)

func main() {
	mpi.Main(run)
}

func run(world *mpi.Comm) (err error) {
	// The counter is one element at rank 0. The table is spread: entry i is at rank i modulo the number of ranks.
	counter, err := mpi.WinAllocate[int](world, 1)
	if err != nil {
		return err
	}
	size := world.Size()
	table, err := mpi.WinAllocate[int](world, (digit+size-1)/size)
	if err != nil {
		return err
	}

	if err := counter.LockAll(); err != nil {
		return err
	}
	if err := table.LockAll(); err != nil {
		return err
	}
	for {
		first, err := counter.FetchAndOp(draw, 0, 0, mpi.AccSum) // no two ranks get the same
		if err != nil {
			return err
		}
		if first >= limit {
			break
		}
		for d, n := range squares(first, first+draw) {
			if err := table.Accumulate([]int{n}, d%size, d/size, mpi.AccSum); err != nil {
				return err
			}
		}
	}
	if err := table.UnlockAll(); err != nil { // what this rank has started is now done
		return err
	}
	if err := counter.UnlockAll(); err != nil {
		return err
	}
	if err := world.Barrier(); err != nil { // and what the others have started too
		return err
	}
	if world.Rank() == 0 {
		if err := show(table, size); err != nil {
			return err
		}
	}
	if err := table.Free(); err != nil {
		return err
	}
	return counter.Free()
}

// squares counts the squares of the numbers from begin to end, without end, by their last digit.
func squares(begin, end int) (counts [digit]int) {
	for n := begin; n < end; n++ {
		counts[n*n%digit]++
	}
	return counts
}

// show fetches the table, which others hold as well, and prints it.
func show(table *mpi.Win[int], size int) error {
	if err := table.LockAll(); err != nil {
		return err
	}
	var counts [digit]int
	for d := range counts {
		if err := table.Get(counts[d:d+1], d%size, d/size); err != nil {
			return err
		}
	}
	if err := table.UnlockAll(); err != nil {
		return err
	}
	for d, n := range counts {
		if n > 0 {
			fmt.Printf("%d squares end in %d\n", n, d)
		}
	}
	return nil
}
