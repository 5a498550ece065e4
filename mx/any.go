package mx

import (
	"iter"
	"math/rand/v2"
)

const (
	idsInOrder  = 4  // ids that are tried first: where few endpoints are open they have small numbers
	idsWiden    = 4  // then one is tried of so many, so many times as many, and so on
	idsAtRandom = 32 // so many of all, which are not tried in order unless nearly all are taken
)

// anyIDs returns the ids from 0 to last in the order in which they are tried, until one is free. In order alone each endpoint
// of a host would try those of all before it. Every id comes, and some may come twice.
func anyIDs(last uint32) iter.Seq[uint32] {
	return func(try func(id uint32) bool) {
		all := last + 1
		for id := range min(idsInOrder, all) {
			if !try(id) {
				return
			}
		}
		for few := uint32(idsInOrder * idsWiden); few < all; few *= idsWiden {
			if !try(rand.Uint32N(few)) {
				return
			}
		}
		for range min(idsAtRandom, last) {
			if !try(rand.Uint32N(all)) {
				return
			}
		}
		for id := range all {
			if !try(id) {
				return
			}
		}
	}
}
