package wire

import "math/bits"

// What a Credit frame says in Match.
const (
	Shows = 1 << 0 // the unexpected handler is to be shown the data of small messages
	Dry   = 1 << 1 // there are no bytes to be granted for now
)

// What messages cost. Both sides of a session reckon with the same numbers: the
// sender pays before it sends, and the receiver counts what arrives. They are no
// less than what a receiver needs to keep the message, whatever becomes of it.
const (
	costOfAll   = 160     // of a message without its bytes
	leastPlace  = 64      // place for bytes comes in powers of two, from this one
	mostPlace   = 1 << 16 // to this one
	pageOfPlace = 8 << 10 // and beyond it in pages
)

// CostOfLeast is what the smallest messages cost.
const CostOfLeast = costOfAll + leastPlace

// Cost is what an eager message of n bytes costs, in bytes.
func Cost(n int) int {
	if n <= leastPlace {
		return CostOfLeast
	}
	return costBeyond(n)
}

func costBeyond(n int) int {
	if n <= mostPlace {
		return costOfAll + 1<<bits.Len(uint(n-1))
	}
	return costOfAll + (n+pageOfPlace-1)&^(pageOfPlace-1)
}

// Headers is what a header with n bytes behind it costs, in headers: those of the
// memory descriptor of a rendezvous, or of an eager message that goes as a header.
func Headers(n int) int { return max(1, (n+leastPlace-1)/leastPlace) }
