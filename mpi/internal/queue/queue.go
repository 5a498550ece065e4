// Package queue is the lock of a window: shared or exclusive, and fair. It knows who
// holds it and who waits, and says who may go on; waiting is done elsewhere. It has no
// input, output, time and concurrency.
package queue

import "slices"

// Lock is a lock that ranks take with a ticket, which comes back when they have it. The
// zero Lock is free.
type Lock[T any] struct {
	holders   []int
	exclusive bool // the holder is alone
	waiting   []waiter[T]
}

type waiter[T any] struct {
	rank      int
	exclusive bool
	ticket    T
}

// Take asks for the lock. It is granted at once, or its ticket is returned by a later
// call, when those before have been served. known: the rank holds it, or waits for it,
// already, and nothing has changed.
func (l *Lock[T]) Take(rank int, exclusive bool, ticket T) (granted, known bool) {
	if l.Holds(rank) || slices.ContainsFunc(l.waiting, func(w waiter[T]) bool { return w.rank == rank }) {
		return false, true
	}
	l.waiting = append(l.waiting, waiter[T]{rank, exclusive, ticket})
	return len(l.admit()) == 1, false
}

// Give gives the lock back, and returns the tickets of those who have it now. False: the rank
// does not hold it.
func (l *Lock[T]) Give(rank int) (tickets []T, held bool) {
	i := slices.Index(l.holders, rank)
	if i < 0 {
		return nil, false
	}
	l.holders = slices.Delete(l.holders, i, i+1)
	return l.admit(), true
}

// Drop takes a rank that is gone out of the lock and of the queue, and returns the tickets of
// those who have the lock now.
func (l *Lock[T]) Drop(rank int) []T {
	l.holders = slices.DeleteFunc(l.holders, func(r int) bool { return r == rank })
	l.waiting = slices.DeleteFunc(l.waiting, func(w waiter[T]) bool { return w.rank == rank })
	return l.admit()
}

// Holds reports whether a rank holds the lock.
func (l *Lock[T]) Holds(rank int) bool { return slices.Contains(l.holders, rank) }

// Holders returns who holds the lock.
func (l *Lock[T]) Holders() []int { return slices.Clone(l.holders) }

// Tickets takes all who wait out of the queue, and returns their tickets.
func (l *Lock[T]) Tickets() (tickets []T) {
	for _, w := range l.waiting {
		tickets = append(tickets, w.ticket)
	}
	l.waiting = nil
	return tickets
}

// admit lets in whoever is first in the queue and may go beside those who hold the lock.
func (l *Lock[T]) admit() (tickets []T) {
	for len(l.waiting) > 0 {
		w := l.waiting[0]
		if len(l.holders) > 0 && (l.exclusive || w.exclusive) {
			break
		}
		l.holders, l.exclusive = append(l.holders, w.rank), w.exclusive
		l.waiting = l.waiting[1:]
		tickets = append(tickets, w.ticket)
	}
	return tickets
}
