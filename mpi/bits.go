package mpi

// The parts of the match bits, from the upper end: context, rank of the sender, tag.
const (
	tagBits     = 23
	rankBits    = 20
	contextBits = 21

	rankShift    = tagBits
	contextShift = tagBits + rankBits

	// collective is the bit that keeps collectives apart from what the program sends.
	collective = uint64(1) << contextShift

	tagMask     = uint64(1)<<tagBits - 1
	rankMask    = (uint64(1)<<rankBits - 1) << rankShift
	contextMask = ^(tagMask | rankMask)
)

// TagUB is the largest tag (MPI_TAG_UB).
const TagUB = 1<<tagBits - 1

// maxRanks is the size of the largest world.
const maxRanks = 1 << rankBits

// bitsOf returns the match bits of what a rank sends, but for the tag.
func bitsOf(context uint32, rank int) uint64 {
	return uint64(context)<<contextShift | uint64(rank)<<rankShift
}

// sourceOf returns the rank that a message comes from.
func sourceOf(match uint64) int { return int(match & rankMask >> rankShift) }

// tagOf returns its tag.
func tagOf(match uint64) int { return int(match & tagMask) }

// want returns the value and mask of a receive.
func want(context uint64, source, tag int) (value, mask uint64) {
	value, mask = context, contextMask
	if source != AnySource {
		value |= uint64(source) << rankShift
		mask |= rankMask
	}
	if tag != AnyTag {
		value |= uint64(tag)
		mask |= tagMask
	}
	return value, mask
}

// The contexts that are always there. Each is one of a pair: collectives have the next one.
const (
	inwardContext = 0 // what a rank tells itself; and, in the place of collectives, why others have failed in one
	worldContext  = 2
	selfContext   = 4
	firstContext  = 6 // of those that are given out
)
