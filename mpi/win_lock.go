package mpi

import (
	"cmp"
	"errors"

	"gomx/mpi/internal/hang"
)

// Lock waits for the lock of a rank's memory, which this rank may then access until Unlock (MPI_Win_lock). An exclusive
// lock is held by one rank at a time; several ranks may hold a shared one. Locks are granted in the order in which the
// requests arrive at the target, and a free lock is granted at once. The target makes no call for that. To access its
// own memory while others may, a rank takes its own lock. Errors: ErrWin if this rank has the lock already, ErrRank,
// ErrProcFailed.
func (w *Win[T]) Lock(rank int, exclusive bool) error { return w.open().lock("Lock", rank, exclusive) }

// Unlock waits until all operations of this rank on a rank's memory are complete there, and gives the lock back
// (MPI_Win_unlock). It ignores the context: it ends when the target has the lock back, or has failed. Errors: those of
// the operations, in which case the lock is given back nevertheless; ErrWin if this rank does not hold the lock;
// ErrRank; ErrProcFailed.
func (w *Win[T]) Unlock(rank int) error { return w.open().unlock("Unlock", rank) }

// LockAll takes the shared locks of all ranks, one after the other (MPI_Win_lock_all). If one of them fails, it gives
// back the ones before, without waiting for that.
func (w *Win[T]) LockAll() error {
	if err := w.open().usable("LockAll", Undefined); err != nil {
		return err
	}
	for rank := range w.targets {
		if err := w.lock("LockAll", rank, false); err != nil {
			for back := range rank {
				t := &w.targets[back]
				if attempt, held := t.giveBack(); held {
					w.undo(t, back, attempt)
				}
			}
			return err
		}
	}
	return nil
}

// UnlockAll is Unlock of all ranks (MPI_Win_unlock_all). It goes on after an error, and
// returns the first.
func (w *Win[T]) UnlockAll() error {
	return w.open().each("UnlockAll", func(rank int) error { return w.unlock("UnlockAll", rank) })
}

func (w *window) lock(op string, rank int, exclusive bool) error {
	t, err := w.at(op, rank)
	if t == nil {
		return err
	}
	t.mu.Lock()
	attempt, ok := t.lock.Ask()
	t.mu.Unlock()
	if !ok {
		return w.fail(op, rank, ErrWin, errors.New("this rank has that lock, or waits for it: Unlock comes first"))
	}
	err = w.obtain(t, op, rank, attempt, exclusive)
	if err != nil {
		w.undo(t, rank, attempt)
		return cmp.Or(w.usable(op, rank), err)
	}
	if rank == w.c.rank {
		w.exposed.settle()
	}
	t.granted()
	return nil
}

// obtain takes the lock for an attempt: by its word if it is free, or by asking the target.
func (w *window) obtain(t *target, op string, rank int, attempt uint64, exclusive bool) error {
	if taken, err := w.grab(t, op, rank, exclusive); taken || err != nil {
		return err
	}
	h := head{offset: attempt}
	if exclusive {
		h.flag = 1
	}
	waits := &w.c.seat.waits
	long := waits.enterNeed(w.c, "Win."+op, hang.Need{Kind: hang.Lock, Peer: w.c.worldRank(rank)})
	err := w.ask(op, rank, askLock, h, nil, nil)
	waits.leave(long)
	return err
}

// undo ends an attempt, which may have got the lock or not, without waiting for the target. The target handles this
// before the next attempt.
func (w *window) undo(t *target, rank int, attempt uint64) {
	b := buffers.Get().(*buffer)
	w.c.seat.job.control.Post(w.process(rank), noteUndo, w.write(b, rank, head{offset: attempt}))
	buffers.Put(b)
	t.over()
}

func (w *window) unlock(op string, rank int) error {
	t, err := w.at(op, rank)
	if t == nil {
		return err
	}
	attempt, held := t.giveBack()
	if !held {
		return w.fail(op, rank, ErrWin, errors.New("this rank does not have that lock"))
	}
	defer t.over()
	w = w.patient()
	err = w.complete(t, op, rank, false)
	given, trouble := w.drop(t, op, rank)
	if !given && trouble == nil {
		trouble = w.ask(op, rank, askUnlock, head{offset: attempt}, nil, nil)
	}
	return cmp.Or(err, trouble)
}

// granted notes that the rank has the lock.
func (t *target) granted() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lock.Granted()
	t.held.Store(true)
}

// giveBack starts to give the lock back, unless the rank does not have it.
func (t *target) giveBack() (attempt uint64, held bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held.Store(false)
	return t.lock.Return()
}

// over ends the attempt to have the lock.
func (t *target) over() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lock.Over()
}

// leaveLocks ends the waits for locks of a rank of this process that has finalized, like all other ranks.
func (p *controlPlane) leaveLocks(rank int) {
	for _, e := range p.exposures() {
		e.mu.Lock()
		for _, q := range e.lock.Leave(rank) {
			e.answer(q, answerDead, nil)
		}
		e.mu.Unlock()
	}
}

// idle reports whether the rank neither has the lock nor asks for it.
func (t *target) idle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lock.Idle()
}
