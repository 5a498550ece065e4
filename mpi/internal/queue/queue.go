// Package queue is the lock of a window: shared or exclusive, and fair. A Lock belongs to the rank whose memory it
// protects: it knows the holders and the waiting ranks, and decides who gets the lock next. A Claim belongs to a rank
// that wants the lock. The package is pure: waiting, and the messages between the two, are in package mpi.
//
// A rank may take a lock that is free, and give it back, through its Word alone, with a compare-and-swap. If the word
// does not have the expected value, the rank sends a request to the Lock instead. Before the Lock handles a request, the
// word is set to Queued, and the Lock takes over the holder that the word named. When the Lock is vacant, the word is set
// to Free.
//
// Each attempt of a rank to have the lock has a number, which grows. The requests of a rank arrive at the Lock in the
// order in which they were sent, if they arrive at all, and its swaps take effect in the order in which they were issued.
// There is no order between requests and swaps, nor between requests, answers and failure notices. When the Lock learns
// that a rank has failed, no later swap of that rank takes effect.
package queue

import "slices"

// Lock is a lock that ranks take with a ticket, which comes back when they have it. The
// zero Lock is free.
type Lock[T any] struct {
	holders   []holder
	exclusive bool // the only holder has the lock exclusively
	waiting   []waiter[T]
	dead      []int
	undone    map[int]uint64 // by rank: its last attempt that was undone
	closed    bool
}

// holder is a rank that has the lock, and the attempt with which it got it.
type holder struct {
	rank    int
	attempt uint64
}

type waiter[T any] struct {
	holder
	exclusive bool
	ticket    T
}

// Verdict is the outcome of an attempt.
type Verdict uint8

// The verdicts.
const (
	Granted Verdict = iota // it has the lock
	Waits                  // its ticket comes back from a later call, when it is the rank's turn
	Known                  // the rank has the lock, or waits for it, by another attempt; nothing has changed
	Refused                // the lock is closed, or the rank has died
)

// Take asks for the lock.
func (l *Lock[T]) Take(rank int, attempt uint64, exclusive bool, ticket T) Verdict {
	switch {
	case l.closed || l.Failed(rank):
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

// Give gives the lock back, and returns the tickets of the ranks that get it now. held is false if the attempt does not
// hold the lock.
func (l *Lock[T]) Give(rank int, attempt uint64) (tickets []T, held bool) {
	i := slices.Index(l.holders, holder{rank, attempt})
	if i < 0 {
		return nil, false
	}
	l.holders = slices.Delete(l.holders, i, i+1)
	return l.admit(), true
}

// Undo ends an attempt whose rank does not want the lock any more, whether it waits or has the lock, and returns the
// tickets of the ranks that get it now. Undoing an attempt that is over has no effect. The word may still name the
// attempt as holder later, until the Lock takes over.
func (l *Lock[T]) Undo(rank int, attempt uint64) []T {
	if l.undone == nil {
		l.undone = map[int]uint64{}
	}
	l.undone[rank] = max(l.undone[rank], attempt)
	return l.drop(func(h holder) bool { return h == holder{rank, attempt} })
}

// Fail takes a failed rank out of the lock and of the queue for ever, and returns the tickets of the ranks that get the
// lock now.
func (l *Lock[T]) Fail(rank int) []T {
	if !l.Failed(rank) {
		l.dead = append(l.dead, rank)
	}
	return l.drop(func(h holder) bool { return h.rank == rank })
}

// Leave refuses further attempts of a rank that finalizes, and returns its ticket if it waits. The rank keeps the lock if
// it holds it: the other ranks finalize with it, and none of them should get the lock for a moment only.
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

// Failed reports whether a rank is known to have failed.
func (l *Lock[T]) Failed(rank int) bool { return slices.Contains(l.dead, rank) }

// Holders returns the ranks that hold the lock.
func (l *Lock[T]) Holders() (ranks []int) {
	for _, h := range l.holders {
		ranks = append(ranks, h.rank)
	}
	return ranks
}

// Close ends the lock, takes all waiting ranks out of the queue, and returns their tickets.
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

// admit gives the lock to the first ranks of the queue that may share it with its holders, and returns their tickets.
func (l *Lock[T]) admit() (tickets []T) {
	for len(l.waiting) > 0 && l.enter(l.waiting[0].holder, l.waiting[0].exclusive) {
		tickets = append(tickets, l.waiting[0].ticket)
		l.waiting = l.waiting[1:]
	}
	return tickets
}

// enter gives the lock to one more rank, unless that rank or a holder wants it exclusively.
func (l *Lock[T]) enter(h holder, exclusive bool) bool {
	if len(l.holders) > 0 && (l.exclusive || exclusive) {
		return false
	}
	l.holders, l.exclusive = append(l.holders, h), exclusive
	return true
}
