package queue

// Word is the value of a lock's word, which lies beside the window's memory and which ranks compare and swap without the
// owner's help. While nobody waits and at most one rank has the lock, the word is the whole state of the lock: it names
// the holder, or is Free. In any other state it is Queued, and the Lock decides.
//
//	63      41 40       1      0
//	+--------+---------+-----------+
//	| rank+1 | attempt | exclusive |
//	+--------+---------+-----------+
type Word uint64

// The words that name no rank.
const (
	Free   Word = 0 // nobody has the lock
	Queued Word = 1 // the Lock decides
)

const (
	rankShift   = 41
	mostRank    = 1<<(64-rankShift) - 2
	mostAttempt = 1<<(rankShift-1) - 1
)

// wordOf returns the word of a lock that a rank has taken by an attempt. ok is false if the numbers do not fit.
func wordOf(rank int, attempt uint64, exclusive bool) (w Word, ok bool) {
	if rank > mostRank || attempt > mostAttempt {
		return Queued, false
	}
	w = Word(rank+1)<<rankShift | Word(attempt)<<1
	if exclusive {
		w |= 1
	}
	return w, true
}

// holder returns the rank that has the lock. ok is false if the word names no rank.
func (w Word) holder() (h holder, exclusive, ok bool) {
	rank := int(w >> rankShift)
	return holder{rank - 1, uint64(w) >> 1 & mostAttempt}, w&1 != 0, rank != 0
}

// TakeOver has the Lock decide from now on, until it is Vacant and the word says Free again. The word has said old until it was set to Queued. An
// attempt that was undone does not have the lock.
func (l *Lock[T]) TakeOver(old Word) {
	if h, exclusive, ok := old.holder(); ok && h.attempt > l.undone[h.rank] {
		l.enter(h, exclusive)
	}
}

// Vacant reports whether nobody has the lock, and so nobody waits for it.
func (l *Lock[T]) Vacant() bool { return len(l.holders) == 0 }
