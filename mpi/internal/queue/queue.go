// Package queue is the lock of a window: shared or exclusive, and fair. Lock is the side of the rank whose memory it is
// about, and knows who holds it and who waits, and says who may go on; Claim is the side of a rank that asks. Waiting, and
// what they say to each other, are elsewhere. It has no input, output, time and concurrency.
//
// A rank may take a lock that is free, and give it back, by its Word alone. It does both by comparing and swapping, and if the word is not as
// expected, it says to the Lock what it wants. Before the Lock hears anything, the word is set to Queued, and the Lock takes over what it has said; when the Lock
// is vacant, the word is set to Free.
//
// Each attempt of a rank to have the lock has a number, which grows. All that a rank says to the Lock arrives in the order in which it
// says it, if at all, and so does what it swaps; but what it says and what it swaps have no order among each other, and neither have what ranks say, what is
// answered and the news of deaths. Of a dead rank nothing is swapped any more when the Lock learns of its death.
package queue

import "slices"

// Lock is a lock that ranks take with a ticket, which comes back when they have it. The
// zero Lock is free.
type Lock[T any] struct {
	holders   []holder
	exclusive bool // the holder is alone
	waiting   []waiter[T]
	dead      []int
	undone    map[int]uint64 // by rank: its last attempt that was undone
	closed    bool
}

// holder is a rank that has the lock, by an attempt of its.
type holder struct {
	rank    int
	attempt uint64
}

type waiter[T any] struct {
	holder
	exclusive bool
	ticket    T
}

// Verdict is what has become of an attempt.
type Verdict uint8

// The verdicts.
const (
	Granted Verdict = iota // it has the lock
	Waits                  // its ticket comes back from a later call, when those before have been served
	Known                  // the rank has the lock, or waits for it, by another attempt; nothing has changed
	Refused                // the lock is closed, or the rank has died
)

// Take asks for the lock.
func (l *Lock[T]) Take(rank int, attempt uint64, exclusive bool, ticket T) Verdict {
	switch {
	case l.closed || l.Mourns(rank):
		return Refused
	case slices.ContainsFunc(l.holders, func(h holder) bool { return h.rank == rank }),
		slices.ContainsFunc(l.waiting, func(w waiter[T]) bool { return w.rank == rank }):
		return Known
	}
	h := holder{rank, attempt}
	if len(l.waiting) == 0 && l.enter(h, exclusive) {
		return Granted
	}
	l.waiting = append(l.waiting, waiter[T]{h, exclusive, ticket})
	return Waits
}

// Give gives the lock back, and returns the tickets of those who have it now. False: the attempt
// does not hold it.
func (l *Lock[T]) Give(rank int, attempt uint64) (tickets []T, held bool) {
	i := slices.Index(l.holders, holder{rank, attempt})
	if i < 0 {
		return nil, false
	}
	l.holders = slices.Delete(l.holders, i, i+1)
	return l.admit(), true
}

// Undo ends an attempt whose rank does not want the lock any more, whether it waits or has it, and returns the
// tickets of those who have the lock now. Of one that is over nothing is left to undo. The word may say later
// that the attempt has the lock, until the Lock takes over.
func (l *Lock[T]) Undo(rank int, attempt uint64) []T {
	if l.undone == nil {
		l.undone = map[int]uint64{}
	}
	l.undone[rank] = max(l.undone[rank], attempt)
	return l.drop(func(h holder) bool { return h == holder{rank, attempt} })
}

// Bury takes a rank that has died out of the lock and of the queue for ever, and returns the tickets of
// those who have the lock now.
func (l *Lock[T]) Bury(rank int) []T {
	if !l.Mourns(rank) {
		l.dead = append(l.dead, rank)
	}
	return l.drop(func(h holder) bool { return h.rank == rank })
}

// Leave refuses a rank that all others leave with from now on, and returns its ticket if it waits. What it holds it keeps, so that nobody
// has the lock for a moment who leaves later.
func (l *Lock[T]) Leave(rank int) (own []T) {
	l.dead = append(l.dead, rank)
	l.waiting = slices.DeleteFunc(l.waiting, func(w waiter[T]) bool {
		if w.rank == rank {
			own = append(own, w.ticket)
		}
		return w.rank == rank
	})
	return own
}

// Mourns reports whether a rank is known to have died.
func (l *Lock[T]) Mourns(rank int) bool { return slices.Contains(l.dead, rank) }

// Holders returns the ranks that hold the lock.
func (l *Lock[T]) Holders() (ranks []int) {
	for _, h := range l.holders {
		ranks = append(ranks, h.rank)
	}
	return ranks
}

// Close ends the lock, takes all who wait out of the queue, and returns their tickets.
func (l *Lock[T]) Close() (tickets []T) {
	for _, w := range l.waiting {
		tickets = append(tickets, w.ticket)
	}
	l.waiting, l.closed = nil, true
	return tickets
}

// Closed reports whether the lock has ended.
func (l *Lock[T]) Closed() bool { return l.closed }

func (l *Lock[T]) drop(gone func(holder) bool) []T {
	l.holders = slices.DeleteFunc(l.holders, gone)
	l.waiting = slices.DeleteFunc(l.waiting, func(w waiter[T]) bool { return gone(w.holder) })
	return l.admit()
}

// admit lets in whoever is first in the queue and may go beside those who hold the lock.
func (l *Lock[T]) admit() (tickets []T) {
	for len(l.waiting) > 0 && l.enter(l.waiting[0].holder, l.waiting[0].exclusive) {
		tickets = append(tickets, l.waiting[0].ticket)
		l.waiting = l.waiting[1:]
	}
	return tickets
}

// enter gives the lock to one more, unless that one or who holds it wants to be alone.
func (l *Lock[T]) enter(h holder, exclusive bool) bool {
	if len(l.holders) > 0 && (l.exclusive || exclusive) {
		return false
	}
	l.holders, l.exclusive = append(l.holders, h), exclusive
	return true
}
