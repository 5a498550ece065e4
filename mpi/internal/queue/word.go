package queue

// Word is what the word of a lock says, which lies beside the memory and which ranks compare and swap by themselves. While nobody waits, it is all
// there is to the lock: it says that nobody has it, or who has it alone or as the only one. For anything else it says that the Lock decides.
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

// wordOf returns what the word says when a rank has taken the lock by an attempt. False: that does not fit.
func wordOf(rank int, attempt uint64, exclusive bool) (Word, bool) {
	if rank > mostRank || attempt > mostAttempt {
		return Queued, false
	}
	w := Word(rank+1)<<rankShift | Word(attempt)<<1
	if exclusive {
		w |= 1
	}
	return w, true
}

// holder returns who has the lock. False: no rank is named.
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
