package mpi

import (
	"runtime"
	"slices"
	"sync"

	"gomx/mpi/internal/coll"
	"gomx/mx"
)

// contextPairs is how many pairs of contexts there are to give out: one for the program's messages and one for
// collectives each.
const contextPairs = 1<<(contextBits-1) - firstContext/2

// contextIDs allocates pairs of contexts. A number is reused only when all others were allocated since: messages that
// were sent with it before have arrived by then, and were dropped when their communicator was freed. A receive that is still
// pending keeps it from being reused.
type contextIDs struct {
	mu      sync.Mutex
	next    uint64            // turn to offer
	used    map[uint32]uint64 // the turn of each context that is in use
	offered bool              // one of its communicators offers a turn
	offers  uint64            // that turn
	asking  []uint32          // the contexts of the communicators that ask for one
}

// noTurn is the offer of a rank that uses all contexts. It is later than all turns.
const noTurn = ^uint64(0)

// contextOfTurn returns the context that is given out at a turn.
func contextOfTurn(turn uint64) uint32 { return firstContext + 2*uint32(turn%contextPairs) }

// offer returns the first turn from the rank's next one on whose context it does not use, for a communicator that
// may have one now: among several that are made at once, by several goroutines, the ranks may ask in different orders, and
// the lowest context goes first. awaited says whether receives of a freed communicator are pending with a context.
func (ids *contextIDs) offer(context uint32, awaited func(context uint32) bool) (turn uint64, may bool) {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	if ids.offered || slices.Min(ids.asking) != context {
		return 0, false
	}
	ids.offered, ids.offers = true, noTurn
	for turn = ids.next; turn-ids.next < contextPairs; turn++ {
		if _, taken := ids.used[contextOfTurn(turn)]; !taken && (turn < contextPairs || !awaited(contextOfTurn(turn))) {
			ids.offers = turn
			break
		}
	}
	return ids.offers, true
}

// uses reports whether the rank uses the context of a turn, or may be about to.
func (ids *contextIDs) uses(turn uint64) bool {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	used, is := ids.used[contextOfTurn(turn)]
	return is && used == turn || ids.offered && ids.offers == turn
}

// awaits reports whether receives of the rank are pending with one of a pair of contexts.
func (s *seat) awaits(context uint32) bool {
	return slices.ContainsFunc(s.ep.Pending(), func(p mx.PendingRequest) bool {
		return p.Kind == "recv" && uint32(p.MatchInfo>>contextShift)&^1 == context
	})
}

// pendingContexts returns the contexts of the rank's pending operations, the first of each pair.
func (s *seat) pendingContexts() map[uint32]bool {
	contexts := map[uint32]bool{}
	for _, p := range s.ep.Pending() {
		contexts[contextOf(p.MatchInfo)&^1] = true
	}
	return contexts
}

func (ids *contextIDs) ask(context uint32) {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	ids.asking = append(ids.asking, context)
}

// asked undoes ask.
func (ids *contextIDs) asked(context uint32) {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	i := slices.Index(ids.asking, context)
	ids.asking = slices.Delete(ids.asking, i, i+1)
}

// settle ends the offer of a turn. Its context is in use if the ranks have agreed on it, and is skipped if that is not
// known. Otherwise the latest turn that was offered is the next one to offer.
func (ids *contextIDs) settle(turn uint64, err error, all *proposal, agreed bool) {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	ids.offered = false
	switch {
	case turn == noTurn:
	case agreed:
		if ids.used == nil {
			ids.used = map[uint32]uint64{}
		}
		ids.used[contextOfTurn(turn)] = turn
		ids.next = turn + 1
	case err != nil:
		ids.next = turn + 1
	case all.made() && all[0] != noTurn:
		ids.next = all[0]
	}
}

func (ids *contextIDs) giveBack(context uint32) {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	delete(ids.used, context)
}

// proposal is the proposal of a rank: a turn, its complement, whether the rank can't make an offer yet, and whether it uses the
// communicator that was asked about. The maximum of each over all ranks shows whether all have offered the same turn.
type proposal [4]uint64

func (ids *contextIDs) propose(turn uint64, may bool, asked uint64) (p proposal) {
	if p[2] = 1; may {
		p = proposal{turn, ^turn}
	}
	if ids.uses(asked) {
		p[3] = 1
	}
	return p
}

// made reports whether all ranks have made an offer.
func (p *proposal) made() bool { return p[2] == 0 }

// unused reports whether no rank uses the communicator that was asked about.
func (p *proposal) unused() bool { return p[3] == 0 }

// same reports whether all offers were the same.
func (p *proposal) same() bool { return p[0] == ^p[1] }

// context finds a context that no rank of the communicator uses, for a collective that makes a communicator, and returns its turn. Ranks
// that take no part in that give it back. Each proposes the next turn whose context it does not use, until all propose the same. However often
// that is, it is one collective: who gives up in the middle has called as many as the others.
func (n *net) context() (uint64, error) {
	c := n.c
	n.several()
	c.seat.dropFreed()
	freed, err := n.present()
	if err != nil {
		return 0, n.failRound(err)
	}
	ids := &c.seat.ids
	ids.ask(c.state.context)
	defer ids.asked(c.state.context)
	for first := noTurn; ; {
		turn, may := ids.offer(c.state.context, c.seat.awaits)
		if may && turn != noTurn && c.seat.anyUnexpected() {
			c.seat.dropContext(contextOfTurn(turn)) // nobody sends under it before all have offered it
		}
		ours, all := ids.propose(turn, may, freed), proposal{}
		n.nextRound()
		err := allreduce(n, n, ours[:], all[:], Max)
		agreed := err == nil && all.made() && all.same() && turn != noTurn
		if may {
			ids.settle(turn, err, &all, agreed)
		}
		switch {
		case err != nil:
			return 0, n.failRound(err)
		case agreed:
			if all.unused() {
				c.endFreed(freed)
			}
			return turn, nil
		case all.made():
			first = min(first, all[0])
			if all[0] == noTurn || all[0]-first >= contextPairs {
				return 0, c.fail(n.op, ErrComm, "all %d contexts are in use among the ranks: Free communicators and windows that are not needed", contextPairs)
			}
		}
		if c.ctx != nil && c.ctx.Err() != nil { // rounds may all be quick, and none the last
			return 0, n.failRound(c.broken(n.op, Undefined, Undefined, c.ctx.Err()))
		}
		runtime.Gosched()
	}
}

// present waits until all ranks have come. Only then do they ask for a turn: one that asks before keeps others waiting, and who has not come
// may wait for those. It returns the turn of a freed communicator of which something is left at one of them: if none uses it any more, all have waited
// for its collectives, and that can go. It is the first after that of the call before, since a rank may keep one for long.
func (n *net) present() (freed uint64, err error) {
	n.nextRound()
	asked := &n.c.state.asked
	after, first := n.c.seat.freed.oldest(*asked, n.c.world)
	here, all := proposal{^after, ^first}, proposal{}
	if err := allreduce(n, n, here[:], all[:], Max); err != nil {
		return noTurn, err
	}
	if *asked = ^all[0]; *asked == noTurn {
		*asked = ^all[1]
	}
	return *asked, nil
}

// failRound ends a collective of several rounds that has failed in one of them: other ranks may be in the next round.
func (n *net) failRound(err error) error {
	n.sent, n.received = 0, 0
	return n.fail(err, func(rest coll.Net) error {
		var none proposal
		return coll.Allreduce(rest, none[:], none[:], nothing, n.choose(coll.KindAllreduce, len(none)*8, true))
	})
}
