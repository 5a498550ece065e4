package coll

// Shape is what the choice of an algorithm rests on, apart from the operation itself. It
// must be the same at all ranks.
type Shape struct {
	Ranks int
	// Crowd is how many ranks share a core where they are densest: 1 if each has its own.
	Crowd int
}

// crowded reports whether ranks take turns. What counts then is the work of all of them
// together, and how often one has to wait for another, rather than the longest chain.
func (s Shape) crowded() bool { return s.Crowd > 1 }

func (s Shape) powerOfTwo() bool { return s.Ranks&(s.Ranks-1) == 0 }

// Choose returns the algorithm for an operation. bytes is what a rank contributes: the
// buffer of Bcast and of the reductions, a rank's part for others. alike says that all
// parts are of one length and close together; counts of one rank could differ otherwise.
func Choose(k Kind, bytes int, s Shape, alike bool, o *Overrides) Algorithm {
	if a := o.of(k); a != Automatic && fits(k, a, s, alike) {
		return a
	}
	switch k {
	case KindBarrier:
		return chooseBarrier(s)
	case KindBcast:
		return chooseBcast(bytes, s)
	case KindReduce:
		return chooseReduce(bytes, s)
	case KindAllreduce:
		return chooseAllreduce(bytes, s)
	case KindReduceScatter:
		return pick(bytes <= 4<<10 || s.crowded() && bytes <= 32<<10, ReduceScattered, Pairwise)
	case KindScan, KindExscan:
		return pick(s.crowded() || s.Ranks <= 4, Linear, RecursiveDoubling)
	case KindGather, KindScatter:
		return pick(alike && s.Ranks > 8 && bytes <= 1<<10, Binomial, Flat)
	case KindAllgather:
		return chooseAllgather(bytes, s, alike)
	}
	return chooseAlltoall(bytes, s, alike)
}

func pick(yes bool, a, b Algorithm) Algorithm {
	if yes {
		return a
	}
	return b
}

// fits reports whether an algorithm can do the operation among these ranks.
func fits(k Kind, a Algorithm, s Shape, alike bool) bool {
	switch k {
	case KindAllgather:
		return a == Ring || a == Bruck || a == Scattered || alike && (a == GatherBcast || s.powerOfTwo())
	case KindGather, KindScatter, KindAlltoall:
		return alike || a != Binomial && a != Bruck && a != GatherScatter
	}
	return true
}

// flatRanks is up to how many ranks that take turns one may speak with all others: it is woken
// once for many of them.
const flatRanks = 256

// turnRanks is up to how many ranks that take turns all speak with all: nobody's turn then ends before it has seen
// what others have said in theirs, and a turn costs more than the messages.
const turnRanks = 4

func chooseBarrier(s Shape) Algorithm {
	switch {
	case s.crowded() && s.Ranks > 2 && s.Ranks <= turnRanks:
		return Scattered
	case s.crowded() && s.Ranks > 2 && s.Ranks <= flatRanks:
		return Flat
	case s.crowded() && s.Ranks > 2:
		return Tree
	}
	return Dissemination
}

// streamed is up to how long a message leaves in small segments where each rank has a core: that is a sixth quicker than one copy of all
// of it where the cores are near, and several times as slow where they are far apart.
const streamed = 64 << 10

func chooseBcast(bytes int, s Shape) Algorithm {
	switch {
	case bytes > smallSegment && (s.crowded() || bytes <= streamed):
		return SmallBinomial
	case s.Ranks > 2 && bytes >= 512<<10:
		return Pipeline
	}
	return Binomial
}

// chooseReduce: halving shortens the longest chain, and is more work and more turns for all together.
func chooseReduce(bytes int, s Shape) Algorithm {
	return pick(!s.crowded() && s.Ranks > 2 && bytes >= 64<<10, Rabenseifner, Binomial)
}

// fetchedPart is from how long parts on pairwise exchange is quickest: each is fetched at once by who combines it, and the
// combined one by all.
const fetchedPart = 64 << 10

func chooseAllreduce(bytes int, s Shape) Algorithm {
	switch {
	case bytes/s.Ranks >= fetchedPart && (bytes >= 2<<20 || s.crowded() && bytes >= 1<<20):
		return Pairwise
	case bytes >= 32<<10:
		return Rabenseifner
	case !s.crowded() || s.Ranks <= 2:
		return RecursiveDoubling
	case s.Ranks <= turnRanks && bytes <= 512:
		return Scattered
	}
	return pick(s.Ranks <= flatRanks, FlatReduceBcast, ReduceBcast)
}

// sentAtOnce is up to how many ranks each may send to all others at once.
const sentAtOnce = 64

// passedOn is from how long parts on it is quicker to fetch each from its own rank than to pass it on.
const passedOn = 32 << 10

func chooseAllgather(bytes int, s Shape, alike bool) Algorithm {
	switch few, total := s.Ranks <= turnRanks, bytes*s.Ranks; {
	case total > 64<<10 && s.Ranks <= sentAtOnce && (few || bytes >= passedOn):
		return Scattered
	case total > 64<<10:
		return Ring
	case alike && s.crowded() && s.Ranks > 2 && few && total > 8<<10:
		return Scattered
	case alike && s.crowded() && s.Ranks > 2:
		return GatherBcast
	case alike && s.powerOfTwo():
		return RecursiveDoubling
	}
	return Bruck
}

// sortedAtZero is up to how many bytes all that a rank sends in an Alltoall goes through rank 0 where ranks take turns: each
// of them then sends one message and waits for one.
const sortedAtZero = 8 << 10

func chooseAlltoall(bytes int, s Shape, alike bool) Algorithm {
	switch {
	case alike && s.crowded() && s.Ranks > turnRanks && s.Ranks <= flatRanks && bytes*s.Ranks <= sortedAtZero:
		return GatherScatter
	case alike && s.Ranks >= 8 && bytes <= 256:
		return Bruck
	case s.Ranks <= sentAtOnce:
		return Scattered
	}
	return Pairwise
}
