package mpi

import (
	"maps"
	"slices"

	"gomx/mpi/internal/hang"
	"gomx/mx"
)

// A rank connects to another one when it first sends to it or receives from it. A collective knows which ranks it needs, and
// connects to all of them together: if ranks share cores, each connection would otherwise wait until the other rank runs.

// connectsAtOnce is the number of ranks that a collective connects to at a time.
const connectsAtOnce = 16

// connectWith connects to ranks, and notes in far the error of each that can't be reached. It starts several connects, and
// then waits for them in the same goroutine: with some thread levels the endpoint may have only one caller.
func (c *Comm) connectWith(op string, far map[int]error) {
	for ranks := range slices.Chunk(slices.Collect(maps.Keys(far)), connectsAtOnce) {
		asked := make([]mx.Request, len(ranks))
		for i, rank := range ranks {
			asked[i] = c.seat.ask(int(c.world[rank]))
		}
		for i, rank := range ranks {
			c.awaitAnswer(op, rank, asked[i])
			_, far[rank] = c.peer(op, rank, Undefined) // connects again if the first attempt has failed
		}
	}
}

// awaitAnswer waits until seat.ask has been answered.
func (c *Comm) awaitAnswer(op string, rank int, asked mx.Request) {
	if asked == (mx.Request{}) {
		return
	}
	long := c.seat.waits.enterNeed(c, op, c.connecting(rank))
	c.seat.answered(c.ctx, int(c.world[rank]), asked)
	c.seat.waits.leave(long)
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
