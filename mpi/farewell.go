package mpi

import "encoding/binary"

// A rank that leaves because another has failed tells those that it is connected with who that was. They may learn of its leaving before
// the ring and the launcher have told them of the failure, and would take it for the cause of theirs. What it sends on a session arrives
// before the end of the session.

// farewellHead is the head of such a notice, the failed rank of the world. Behind it is its fate.
const farewellHead = 4

// farewells are the bits of these notices. No communicator has this context.
const farewells = uint64(inwardContext)<<contextShift | collective

// sayWhoFailed sends these notices, if this rank knows more than that another has left.
func (c *Comm) sayWhoFailed() {
	s := c.seat
	if s.job.launch == nil || !c.knowsWhoDied() {
		return
	}
	first := c.firstFailure()
	b := append(binary.LittleEndian.AppendUint32(nil, uint32(first.rank)), fate(first.cause)...)
	for rank := range s.peers {
		if p := s.peers[rank].Load(); p != nil && rank != s.rank && s.job.failures.why(rank) == nil {
			s.post(b[:min(len(b), noticeSize)], p, farewells)
		}
	}
}

// hearWhoFailed notes the failures that ranks have named which have left.
func (c *Comm) hearWhoFailed() {
	for {
		b := c.notice(farewells)
		if len(b) < farewellHead {
			return
		}
		if rank := int(binary.LittleEndian.Uint32(b)); rank < c.seat.job.size && rank != c.seat.rank {
			c.seat.job.noteFailure(rank, hearsay(b[farewellHead:]))
		}
	}
}
