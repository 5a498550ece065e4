package main

import (
	"gomx/examples/internal/block"
	"gomx/mpi"
)

// sorter is one rank's part of the work.
type sorter struct {
	world *mpi.Comm
	problem
	begin, end int      // the places of my keys
	keys       []uint32 // in the order they were made
	buckets
	exchanged

	counts []uint32 // for each key that may be mine, from low on: how many of mine are not greater
}

func newSorter(world *mpi.Comm, p problem) *sorter {
	s := &sorter{world: world, problem: p}
	s.begin, s.end = block.Of(p.keys(), world.Rank(), world.Size())
	s.keys = p.makeKeys(s.begin, s.end)
	s.buckets.init(p, len(s.keys))
	s.exchanged.init(world.Size())
	return s
}

// iterate changes two keys, ranks all keys, and returns how many of the tested ranks this
// rank has and finds right.
func (s *sorter) iterate(iteration int) (passed int, err error) {
	s.setKey(iteration, iteration)
	s.setKey(iteration+iterations, s.maxKey()-iteration)
	tested, err := s.testedKeys()
	if err != nil {
		return 0, err
	}
	if err := s.exchange(); err != nil {
		return 0, err
	}
	s.count()
	for i, t := range s.tests {
		if rank, mine := s.rankOf(int(tested[i])); mine && rank == t.rankAt(iteration) {
			passed++
		}
	}
	return passed, nil
}

func (s *sorter) setKey(place, key int) {
	if s.begin <= place && place < s.end {
		s.keys[place-s.begin] = uint32(key)
	}
}

// testedKeys tells everybody the keys at the places that are tested.
func (s *sorter) testedKeys() ([]uint32, error) {
	keys := make([]uint32, tests)
	for i, t := range s.tests {
		if s.begin <= t.place && t.place < s.end {
			keys[i] = s.keys[t.place-s.begin]
		}
	}
	return keys, mpi.Allreduce(s.world, keys, keys, mpi.Sum)
}

// exchange brings each key to the rank that its bucket belongs to.
func (s *sorter) exchange() error {
	s.measure(s.keys)
	if err := mpi.Allreduce(s.world, s.sizes[:], s.allSizes[:], mpi.Sum); err != nil {
		return err
	}
	s.share(s.world.Rank(), s.keysOf, s.problem.keys())
	s.fill(s.keys)
	return s.exchanged.exchange(s.world, s.bucketed, s.keysOf)
}

// count makes counts of the keys that have come and those that have stayed.
func (s *sorter) count() {
	if n := s.high - s.low; n <= cap(s.counts) {
		s.counts = s.counts[:n]
		clear(s.counts)
	} else {
		s.counts = make([]uint32, n)
	}
	counts, low := s.counts, uint32(s.low)
	for _, part := range [...][]uint32{s.stayed, s.received} {
		for _, key := range part {
			counts[key-low]++
		}
	}
	sum := uint32(0)
	for i, n := range counts {
		sum += n
		counts[i] = sum
	}
}

// rankOf returns how many keys of all are smaller than key, if that is mine to know.
func (s *sorter) rankOf(key int) (rank int, mine bool) {
	switch {
	case key < s.low || key >= s.high:
		return 0, false
	case key == s.low:
		return s.below, true
	}
	return s.below + int(s.counts[key-1-s.low]), true
}

// sorted puts the keys in order, each where its rank says, and reports whether all keys of
// all ranks are there and in order.
func (s *sorter) sorted() (bool, error) {
	mine := make([]uint32, len(s.stayed)+len(s.received))
	next := append([]uint32{}, s.counts...)
	for _, part := range [...][]uint32{s.stayed, s.received} {
		for _, key := range part {
			next[int(key)-s.low]--
			mine[next[int(key)-s.low]] = key
		}
	}
	largest, before := []uint32{0}, []uint32{0} // of mine, and of the ranks before me
	if len(mine) > 0 {
		largest[0] = mine[len(mine)-1]
	}
	if err := mpi.Exscan(s.world, largest, before, mpi.Max); err != nil {
		return false, err
	}
	sums := []int{len(mine), 0}
	for _, key := range mine {
		if key < before[0] {
			sums[1]++
		}
		before[0] = key
	}
	err := mpi.Allreduce(s.world, sums, sums, mpi.Sum)
	return sums[0] == s.problem.keys() && sums[1] == 0, err
}
