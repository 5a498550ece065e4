// Command hello_mpi has each rank greet the next one.
package main

import (
	"fmt"

	"gomx/mpi"
)

func main() {
	mpi.Main(func(world *mpi.Comm) error {
		rank, size := world.Rank(), world.Size()
		next, previous := (rank+1)%size, (rank+size-1)%size
		incoming := make([]int, 1)
		if _, err := mpi.Sendrecv(world, []int{rank}, next, 0, incoming, previous, 0); err != nil {
			return err // Main prints it, and ends the job
		}
		fmt.Printf("rank %d of %d: hello from rank %d\n", rank, size, incoming[0])
		return nil
	})
}
