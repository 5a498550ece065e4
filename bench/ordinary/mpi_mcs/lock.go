package main

import "gomx/mpi"

// The words of each rank's part of the window. Ranks are written with one added, so that 0 is nobody.
// The words have 32 bits for the sake of the counterpart in C.
const (
	next    = iota // who waits behind this rank
	waiting        // 1 until the rank before this one is done
	tail           // at rank 0: who came last
	guarded        // at rank 0: the number that the lock guards
	words
)

// lock is a rank's side of the lock. A rank appends itself to the queue, and then waits by its own memory alone.
type lock struct {
	win   *mpi.Win[int32]
	rank  int
	turns int32 // of this rank
}

func (l *lock) acquire() error {
	if err := l.set(l.rank, next, 0); err != nil {
		return err
	}
	if err := l.set(l.rank, waiting, 1); err != nil {
		return err
	}
	before, err := l.win.FetchAndOp(int32(l.rank+1), 0, tail, mpi.AccReplace)
	if err != nil || before == 0 {
		return err
	}
	if err := l.set(int(before-1), next, int32(l.rank+1)); err != nil {
		return err
	}
	_, err = l.spin(waiting, 1)
	return err
}

func (l *lock) release() error {
	behind, err := l.win.FetchAndOp(0, l.rank, next, mpi.AccNone)
	if err != nil {
		return err
	}
	if behind == 0 {
		last, err := l.win.CompareAndSwap(int32(l.rank+1), 0, 0, tail)
		if err != nil || last == int32(l.rank+1) {
			return err
		}
		if behind, err = l.spin(next, 0); err != nil {
			return err
		}
	}
	return l.set(int(behind-1), waiting, 0)
}

// set writes a word of a rank.
func (l *lock) set(rank, word int, value int32) error {
	if err := l.win.Accumulate([]int32{value}, rank, word, mpi.AccReplace); err != nil {
		return err
	}
	return l.win.Flush(rank)
}

// spin reads a word of this rank until it is another than before.
func (l *lock) spin(word int, before int32) (now int32, err error) {
	for now = before; now == before && err == nil; {
		now, err = l.win.FetchAndOp(0, l.rank, word, mpi.AccNone)
	}
	return now, err
}
