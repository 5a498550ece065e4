package mpi

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"gomx/mpi/internal/coll"
)

// traced is what the message trace is to have of a collective.
type traced struct {
	since  int64 // 0: nothing
	choice int
	bytes  int
}

// collectiveNames are the names of kinds and algorithms, as the trace has them.
var collectiveNames = sync.OnceValue(func() []string {
	names := make([]string, coll.Choices)
	for choice := range names {
		kind, algorithm := coll.Chosen(choice)
		names[choice] = kind.String() + ", " + algorithm.String()
	}
	return names
})

// trace notes the collective in the trace, with the context of its communicator, when the rank has done its part.
func (n *net) trace() {
	t := n.traced
	n.traced = traced{}
	n.c.seat.ep.TraceRegion(collectiveNames()[t.choice], t.since, uint64(n.c.state.context), t.bytes)
}

// traceNumber returns a number for the job that all ranks find: business cards are the same everywhere, and have random numbers in them.
func traceNumber(businessCards [][]byte) uint64 {
	h := sha256.New()
	for _, c := range businessCards {
		h.Write(c)
	}
	return binary.LittleEndian.Uint64(h.Sum(nil))
}
