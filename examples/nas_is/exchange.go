package main

import (
	"slices"

	"gomx/mpi"
)

// exchanged is what has come of an exchange of keys.
type exchanged struct {
	stayed   []uint32 // of my own keys, those that belong to me
	received []uint32 // keys of other ranks that belong to me
	keysOf   []int    // how many of my keys belong to each rank

	sendDispls, recvCounts, recvDispls []int
}

func (e *exchanged) init(ranks int) {
	for _, table := range []*[]int{&e.keysOf, &e.sendDispls, &e.recvCounts, &e.recvDispls} {
		*table = make([]int, ranks)
	}
}

// exchange sends each rank its keys, which lie in the order of ranks, and takes those of
// mine that others have. My own don't travel.
func (e *exchanged) exchange(world *mpi.Comm, keys []uint32, keysOf []int) error {
	begins(keysOf, e.sendDispls)
	me := world.Rank()
	e.stayed = keys[e.sendDispls[me]:][:keysOf[me]]
	keysOf[me] = 0
	if err := mpi.Alltoall(world, keysOf, e.recvCounts); err != nil {
		return err
	}
	total := begins(e.recvCounts, e.recvDispls)
	e.received = slices.Grow(e.received[:0], total)[:total]
	return mpi.Alltoallv(world, keys, keysOf, e.sendDispls, e.received, e.recvCounts, e.recvDispls)
}

// begins says where things begin that lie one after the other, and how many there are.
func begins(counts, displs []int) (total int) {
	for i, n := range counts {
		displs[i] = total
		total += n
	}
	return total
}
