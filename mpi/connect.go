package mpi

import (
	"maps"
	"slices"

	"gomx/mpi/internal/hang"
)

// A rank connects to another one when it first sends to it or receives from it. A collective knows which ranks it needs, and
// connects to all of them together: if ranks share cores, each connection would otherwise wait until the other rank runs.

// connectWith connects to ranks, and notes in far the error of each that can't be reached.
func (c *Comm) connectWith(op string, far map[int]error) {
	ranks := slices.Collect(maps.Keys(far))
	slices.Sort(ranks)
	needs := make([]hang.Need, len(ranks))
	for i, rank := range ranks {
		needs[i] = c.connecting(rank)
	}
	long := c.seat.waits.enterNeed(c, op, needs...)
	late := c.seat.reachAll(c.ctx, c.world, ranks)
	c.seat.waits.leave(long)
	for i, rank := range ranks {
		switch d := c.firstFailure(); {
		case late[i] != nil:
			far[rank] = c.unreachable(op, rank, Undefined, late[i])
		case d != nil && c.seat.peers[c.world[rank]].Load() == nil: // the collective fails because of that
			far[rank] = c.failWith(op, c.rankIn(d.rank), Undefined, ErrProcFailed, d)
		default:
			_, far[rank] = c.peer(op, rank, Undefined) // connects again if the first attempt has failed
		}
	}
}

// connecting is what a rank waits for that connects with another.
func (c *Comm) connecting(rank int) hang.Need {
	return hang.Need{Kind: hang.Answer, Peer: c.worldRank(rank), Stage: "connects"}
}

// Connect connects with all ranks that are not connected yet. One that can't be reached fails the message that needs it.
func (n *net) Connect() {
	st := n.c.state
	if st.connected.Load() || n.missing != nil {
		return
	}
	far := map[int]error{}
	for rank := range n.c.peers {
		if n.c.peers[rank].Load() == nil {
			far[rank] = nil
		}
	}
	if len(far) > 0 {
		n.c.connectWith(n.op, far)
		n.missing = far
	}
	for _, err := range far {
		if err != nil {
			return
		}
	}
	st.connected.Store(true)
}
