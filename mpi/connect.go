package mpi

import (
	"maps"
	"slices"
	"sync"
)

// A rank connects with another one when it first sends to it or receives from it. Collectives know whom they need, and
// connect with all of those together: where ranks take turns, one connection after the other would wait for a turn of
// each rank in turn.

// connectsAtOnce is how many ranks a collective connects with at a time.
const connectsAtOnce = 16

// connectWith connects with ranks, and notes in far which of them can't be reached, and why.
func (c *Comm) connectWith(op string, far map[int]error) {
	var all sync.WaitGroup
	var mu sync.Mutex
	turns := make(chan struct{}, connectsAtOnce)
	for _, rank := range slices.Collect(maps.Keys(far)) {
		turns <- struct{}{}
		all.Go(func() {
			_, err := c.peer(op, rank, Undefined)
			mu.Lock()
			far[rank] = err
			mu.Unlock()
			<-turns
		})
	}
	all.Wait()
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
