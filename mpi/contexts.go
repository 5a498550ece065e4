package mpi

import (
	"math/bits"
	"runtime"
	"slices"
	"sync"
)

// contextWords hold a bit for each pair of contexts: that of the program's messages, and that of the
// collectives.
const contextWords = 1 << (contextBits - 1) / 64

// contextIDs are the pairs of contexts that a rank has not in use.
type contextIDs struct {
	mu      sync.Mutex
	free    [contextWords]uint64
	offered bool     // one of its communicators offers them
	asking  []uint32 // the contexts of the communicators that ask for one
}

func (ids *contextIDs) init() {
	for i := range ids.free {
		ids.free[i] = ^uint64(0)
	}
	ids.free[0] &^= 1<<(firstContext/2) - 1
}

// offer copies the free pairs for a communicator, if that may have one now: among several that are made at once,
// by several goroutines, the ranks may ask in different orders, and the lowest context goes first.
func (ids *contextIDs) offer(context uint32, to []uint64) bool {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	if ids.offered || slices.Min(ids.asking) != context {
		clear(to)
		return false
	}
	ids.offered = true
	copy(to, ids.free[:])
	return true
}

func (ids *contextIDs) ask(context uint32) {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	ids.asking = append(ids.asking, context)
}

// asked is the opposite of ask.
func (ids *contextIDs) asked(context uint32) {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	i := slices.Index(ids.asking, context)
	ids.asking = slices.Delete(ids.asking, i, i+1)
}

// settle ends an offer, and takes the pair that all have agreed on, if there is one.
func (ids *contextIDs) settle(pair int) {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	ids.offered = false
	if pair >= 0 {
		ids.free[pair/64] &^= 1 << (pair % 64)
	}
}

func (ids *contextIDs) giveBack(context uint32) {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	ids.free[context/2/64] |= 1 << (context / 2 % 64)
}

// agree finds a context that no rank of the communicator uses. All ranks call it; those that take no
// part in what it is for give it back.
func (c *Comm) agree(op string) (uint32, error) {
	ids := &c.seat.ids
	ids.ask(c.state.context)
	defer ids.asked(c.state.context)
	ours, all := make([]uint64, contextWords+1), make([]uint64, contextWords+1)
	for {
		// The last word tells whether everybody has made an offer.
		offered := ids.offer(c.state.context, ours[:contextWords])
		ours[contextWords] = 0
		if offered {
			ours[contextWords] = 1
		}
		err := Allreduce(c, ours, all, BitAnd)
		pair := -1
		if err == nil && all[contextWords] != 0 {
			pair = lowest(all[:contextWords])
		}
		if offered {
			ids.settle(pair)
		}
		switch {
		case err != nil:
			return 0, renamed(err, op)
		case pair >= 0:
			return uint32(2 * pair), nil
		case all[contextWords] != 0:
			return 0, c.fail(op, ErrComm, "all %d contexts are in use: Free communicators that are not needed", 64*contextWords)
		}
		runtime.Gosched()
	}
}

// lowest returns the lowest bit that is set, or -1.
func lowest(words []uint64) int {
	for i, w := range words {
		if w != 0 {
			return 64*i + bits.TrailingZeros64(w)
		}
	}
	return -1
}
