package main

// buckets are as many as fit into the first level of cache, and more than there are
// ranks.
const (
	bucketsLog = 9
	lastBucket = 1<<bucketsLog - 1
)

// table has a number for each bucket. That its length is known, and that an index is
// masked, saves the loops below the checks of their bounds.
type table [lastBucket + 1]uint32

// buckets holds a rank's keys by their high bits.
type buckets struct {
	shift    int      // a key's bucket is key >> shift
	sizes    table    // how many of my keys are in each
	allSizes table    // the same of all ranks
	place    table    // where the next key of each goes
	bucketed []uint32 // my keys, bucket by bucket

	low, high int // the keys of the buckets that are mine: from low up to, not including, high
	below     int // how many keys of all are smaller than low
}

func (b *buckets) init(p problem, keys int) {
	b.shift = max(0, p.maxLog-bucketsLog)
	b.bucketed = make([]uint32, keys)
}

// measure makes sizes.
func (b *buckets) measure(keys []uint32) {
	shift, sizes := b.shift&31, &b.sizes
	clear(sizes[:])
	for _, key := range keys {
		sizes[key>>shift&lastBucket]++
	}
}

// share decides which rank gets which buckets, so that each gets about as many keys of
// all. It sets which are mine, where each begins in bucketed, and in keysOf how many of my
// keys belong to each rank.
func (b *buckets) share(me int, keysOf []int, all int) {
	clear(keysOf)
	b.low, b.high, b.below = 0, 0, 0
	before, place := 0, 0
	for i, n := range b.allSizes {
		owner := min(int(int64(before)*int64(len(keysOf))/int64(all)), len(keysOf)-1)
		if owner == me {
			if b.high == 0 {
				b.low, b.below = i<<b.shift, before
			}
			b.high = (i + 1) << b.shift
		}
		b.place[i] = uint32(place)
		keysOf[owner] += int(b.sizes[i])
		place += int(b.sizes[i])
		before += int(n)
	}
}

// fill makes bucketed. Within a bucket, the keys keep their order.
func (b *buckets) fill(keys []uint32) {
	shift, place, bucketed := b.shift&31, &b.place, b.bucketed
	for _, key := range keys {
		at := &place[key>>shift&lastBucket]
		bucketed[*at] = key
		*at++
	}
}
