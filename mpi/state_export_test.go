package mpi

import (
	"context"
	"errors"

	"gomx/mx"
)

// ContextPairs is how many communicators a rank can have, apart from the world and its own.
const ContextPairs = contextPairs

// ClassesCounted returns for how many classes of messages the rank keeps counters.
func ClassesCounted(c *Comm) int { return len(c.seat.ep.Tallies()) }

// ContextOf returns the context of a communicator.
func ContextOf(c *Comm) uint32 { return c.state.context }

// PassContexts has the rank pass over so many contexts.
func PassContexts(c *Comm, n int) { c.seat.ids.next += uint64(n) }

// UseContexts has the rank use so many contexts from the next one on.
func UseContexts(c *Comm, n int) (contexts []uint32) {
	ids := &c.seat.ids
	if ids.used == nil {
		ids.used = map[uint32]uint64{}
	}
	for turn := ids.next; len(contexts) < n; turn++ {
		ids.used[contextOfTurn(turn)] = turn
		contexts = append(contexts, contextOfTurn(turn))
	}
	return contexts
}

// GiveContextsBack is the opposite of UseContexts.
func GiveContextsBack(c *Comm, contexts []uint32) {
	for _, context := range contexts {
		c.seat.ids.giveBack(context)
	}
}

// ContextOfCalls returns the context that ends the calls on the communicator.
func ContextOfCalls(c *Comm) context.Context { return c.ctx }

// Pending returns the requests of the rank that are not over, those included that were given up.
func Pending(c *Comm) []string {
	var list []string
	for _, p := range c.seat.ep.Pending() {
		list = append(list, p.String())
	}
	return list
}

// Held returns how many pieces of the arena the rank keeps for requests that it has given up.
func Held(c *Comm) (n int) {
	c.seat.scratch.collect(c.seat.ep)
	for _, h := range c.seat.scratch.held {
		n += len(h.pieces)
	}
	return n
}

// HeldMost is how many bytes may be held before large scratch memory is ordinary memory.
const HeldMost = heldMost

// Hold keeps a piece until a request is over.
func Hold(c *Comm, piece []byte, q Request) {
	c.seat.scratch.hold([][]byte{piece}, []mx.Request{q.mx()})
}

// TakeScratch returns a large piece of scratch memory.
func TakeScratch(c *Comm, size int) []byte { return c.seat.scratch.take(c.seat.ep, size) }

// UnreadNotices reports whether a notice about a collective that has failed lies at the rank.
func UnreadNotices(c *Comm) bool {
	_, found, _ := c.seat.ep.Iprobe(bitsOf(inwardContext, 0)|collective, contextMask)
	return found
}

// TakeForDead has this process alone take a rank of the world for dead.
func TakeForDead(c *Comm, rank int) { c.seat.job.noteFailure(rank, errors.New("it is taken for dead")) }

// MissInTime has this process find that a rank of the world does not move.
func MissInTime(c *Comm, rank int) { _ = c.seat.job.lose(rank, mx.StatusTimeout) }

// Leavings returns how many collectives of the communicator have left something behind.
func Leavings(c *Comm) int { return int(c.state.left.Load()) }

// Unexpected returns how many messages lie at the rank that no receive has taken.
func Unexpected(c *Comm) int {
	return c.seat.ep.Snapshot().Depths.Unexpected
}

// Backgrounds returns how many nonblocking collectives of the rank have not ended.
func Backgrounds(c *Comm) int { return len(c.seat.nonblocking.all()) }

// LeftOfFreed returns of how many collectives of freed communicators something is left at the rank.
func LeftOfFreed(c *Comm) int {
	c.seat.freed.mu.Lock()
	defer c.seat.freed.mu.Unlock()
	return len(c.seat.freed.left)
}

// ContextsInUse returns how many communicators have contexts at the rank, apart from the world and its own.
func ContextsInUse(c *Comm) int {
	c.seat.ids.mu.Lock()
	defer c.seat.ids.mu.Unlock()
	return len(c.seat.ids.used)
}

// LongWaits returns how many calls of the rank are noted as blocked.
func LongWaits(c *Comm) int { return len(c.seat.waits.all()) }

// WithCollectivesLocked calls f with the locks of the rank's nonblocking collectives held.
func WithCollectivesLocked(c *Comm, f func() error) error {
	list := c.seat.nonblocking.all()
	for _, b := range list {
		b.mu.Lock()
	}
	defer func() {
		for _, b := range list {
			b.unlock()
		}
	}()
	return f()
}

// LeavingsKept is how many collectives may have left something behind before some of it is cancelled.
const LeavingsKept = leavingsKept
