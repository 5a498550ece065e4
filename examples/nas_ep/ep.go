package main

import (
	"math"

	"gomx/examples/internal/npb"
)

const (
	seed       = 271828183
	batchLog   = 16
	batchPairs = 1 << batchLog // pairs that are made at a time
	rings      = 10            // square rings around the origin in which deviates are counted
)

// tally is what is known of some pairs: the sums of their deviates, and how many lie in
// each ring.
type tally struct {
	x, y   float64
	counts [rings]int64
}

// add makes the pairs of a batch and adds their deviates. Each batch begins at its own
// place of the sequence, so it does not matter who makes which.
func (t *tally) add(batch int) {
	r := npb.Random(seed)
	r.Skip(2 * batchPairs * uint64(batch))
	for range batchPairs {
		x, y := 2*r.Next()-1, 2*r.Next()-1
		square := x*x + y*y
		if square > 1 {
			continue
		}
		factor := math.Sqrt(-2 * math.Log(square) / square)
		x, y = x*factor, y*factor
		t.x += x
		t.y += y
		t.counts[int(max(math.Abs(x), math.Abs(y)))]++
	}
}
