package mpi_test

import (
	"fmt"

	"gomx/mpi"
)

// Each rank writes its number into the memory of the next one, which does nothing for it.
func ExampleWin_Put() {
	err := mpi.Run(4, func(world *mpi.Comm) error {
		win, err := mpi.WinAllocate[int](world, 1)
		if err != nil {
			return err
		}
		if err := win.Fence(); err != nil { // all have their windows
			return err
		}
		next := (world.Rank() + 1) % world.Size()
		if err := win.Put([]int{world.Rank()}, next, 0); err != nil {
			return err
		}
		if err := win.Fence(); err != nil { // all puts are done
			return err
		}
		if world.Rank() == 2 {
			fmt.Println("rank 2 has got", win.Mem()[0])
		}
		return win.Free()
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: rank 2 has got 1
}

// Ranks draw numbers from a counter at rank 0: no two get the same.
func ExampleWin_FetchAndOp() {
	err := mpi.Run(3, func(world *mpi.Comm) error {
		win, err := mpi.WinAllocate[int](world, 1)
		if err != nil {
			return err
		}
		if err := win.Lock(0, false); err != nil { // shared: it is the call that is atomic
			return err
		}
		mine, err := win.FetchAndOp(1, 0, 0, mpi.AccSum)
		if err != nil {
			return err
		}
		if err := win.Unlock(0); err != nil {
			return err
		}
		sum := []int{mine}
		if err := mpi.Allreduce(world, sum, sum, mpi.Sum); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println("the numbers drawn add up to", sum[0])
		}
		return win.Free()
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: the numbers drawn add up to 3
}
