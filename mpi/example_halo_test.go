package mpi_test

import (
	"fmt"

	"gomx/mpi"
)

// Four ranks, two by two, each with a square of 3 x 3 cells in a frame. Each gets the cells along the edges of
// its neighbours into its frame: rows lie in one piece, columns are sent by a layout.
func ExampleComm_Cart() {
	const size, stride = 3, 5
	err := mpi.Run(4, func(world *mpi.Comm) error {
		grid, err := world.Cart([]int{2, 2}, []bool{false, false}, false)
		if err != nil {
			return err
		}
		var cells [stride * stride]int
		for row := 1; row <= size; row++ {
			for column := 1; column <= size; column++ {
				cells[row*stride+column] = 1 + grid.Rank()
			}
		}
		above, below, err := grid.Shift(0, 1)
		if err != nil {
			return err
		}
		left, right, err := grid.Shift(1, 1)
		if err != nil {
			return err
		}
		row, column := mpi.Contiguous(size), mpi.Vector(size, 1, stride)
		const first, last = stride + 1, size*stride + size // the cells at two corners
		for _, side := range []struct {
			to, from   int
			mine, gets int
			layout     mpi.Layout
		}{
			{above, below, first, last + stride - size + 1, row},
			{below, above, last - size + 1, 1, row},
			{left, right, first, first + size, column},
			{right, left, first + size - 1, first - 1, column},
		} {
			r, err := mpi.IrecvLayout(grid.Comm, cells[side.gets:], side.layout, side.from, 0)
			if err != nil {
				return err
			}
			if err := mpi.SendLayout(grid.Comm, cells[side.mine:], side.layout, side.to, 0); err != nil {
				return err
			}
			if _, err := r.Wait(); err != nil {
				return err
			}
		}
		if grid.Rank() == 0 {
			for row := range stride {
				fmt.Println(cells[row*stride:][:stride])
			}
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// [0 0 0 0 0]
	// [0 1 1 1 2]
	// [0 1 1 1 2]
	// [0 1 1 1 2]
	// [0 3 3 3 0]
}
