package main

import (
	"slices"

	"gomx/mpi"
)

// perRank is how many samples each rank offers. More of them make parts more even.
const perRank = 64

// sortAll sorts the numbers of all ranks. What it returns are the numbers that are this
// rank's now: none is smaller than those of lower ranks.
func sortAll(world *mpi.Comm, mine []uint64) ([]uint64, error) {
	slices.Sort(mine)
	limits, err := limits(world, mine)
	if err != nil {
		return nil, err
	}
	mine, err = exchange(world, mine, limits)
	slices.Sort(mine)
	return mine, err
}

// limits returns for each rank but the last the smallest number that is too large for it.
func limits(world *mpi.Comm, mine []uint64) ([]uint64, error) {
	samples, all := make([]uint64, perRank), make([]uint64, perRank*world.Size())
	for i := range samples {
		if len(mine) == 0 {
			samples[i] = ^uint64(0) // it has nothing to offer, and its samples limit nobody
		} else {
			samples[i] = mine[i*len(mine)/perRank]
		}
	}
	if err := mpi.Allgather(world, samples, all); err != nil {
		return nil, err
	}
	slices.Sort(all)
	limits := make([]uint64, world.Size()-1)
	for i := range limits {
		limits[i] = all[(i+1)*perRank]
	}
	return limits, nil
}

// exchange sends each rank the numbers between its limits.
func exchange(world *mpi.Comm, mine, limits []uint64) ([]uint64, error) {
	ranks := world.Size()
	sendCounts, sendDispls := make([]int, ranks), make([]int, ranks)
	recvCounts, recvDispls := make([]int, ranks), make([]int, ranks)
	begin := 0
	for rank := range ranks {
		end := len(mine)
		if rank < len(limits) {
			end, _ = slices.BinarySearch(mine, limits[rank])
		}
		sendCounts[rank], sendDispls[rank] = end-begin, begin
		begin = end
	}
	if err := mpi.Alltoall(world, sendCounts, recvCounts); err != nil {
		return nil, err
	}
	total := 0
	for rank, n := range recvCounts {
		recvDispls[rank] = total
		total += n
	}
	theirs := make([]uint64, total)
	return theirs, mpi.Alltoallv(world, mine, sendCounts, sendDispls, theirs, recvCounts, recvDispls)
}
