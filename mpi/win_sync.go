package mpi

import (
	"errors"

	"gomx/mpi/internal/hang"
)

// Fence waits until all ranks have come, and all that they have begun on the window is done
// (MPI_Win_fence). After the first one, all ranks may touch each other's memory until the
// next. It is collective. The first error of what was begun is returned, behind the Fence.
func (w *Win[T]) Fence() error {
	if err := w.usable("Fence", Undefined); err != nil {
		return err
	}
	err := w.FlushAll()
	if meet := w.c.meet("Fence"); err == nil {
		err = meet
	}
	w.exposed.settle()
	w.state.mu.Lock()
	w.state.fenced = true
	w.state.mu.Unlock()
	return err
}

// Lock waits for the lock of a rank's memory, which may then be touched until Unlock
// (MPI_Win_lock). With exclusive, nobody else has it meanwhile; otherwise others who don't want it
// exclusively do too. Locks are granted in the order in which they were asked for.
// The rank itself need do nothing. To touch its own memory beside others, a rank takes its own lock.
// Errors: ErrWin if this rank has the lock already, ErrRank, ErrProcFailed.
func (w *Win[T]) Lock(rank int, exclusive bool) error { return w.lock("Lock", rank, exclusive) }

// Unlock waits until all that this rank has begun on a rank's memory is done there, and gives the lock
// back (MPI_Win_unlock). Errors: ErrWin if it does not hold the lock, ErrRank, ErrProcFailed.
func (w *Win[T]) Unlock(rank int) error { return w.unlock("Unlock", rank) }

// LockAll is Lock without exclusive of all ranks, one after the other (MPI_Win_lock_all).
func (w *Win[T]) LockAll() error {
	for rank := range w.targets {
		if err := w.lock("LockAll", rank, false); err != nil {
			for back := range rank {
				_ = w.unlock("LockAll", back)
			}
			return err
		}
	}
	return nil
}

// UnlockAll is Unlock of all ranks (MPI_Win_unlock_all). It goes on after an error, and
// returns the first.
func (w *Win[T]) UnlockAll() error {
	return w.each(func(rank int) error { return w.unlock("UnlockAll", rank) })
}

// Flush waits until all that this rank has begun on a rank's memory is done there
// (MPI_Win_flush). Errors: those of what was begun, ErrWin, ErrRank, ErrProcFailed.
func (w *Win[T]) Flush(rank int) error { return w.flush("Flush", rank) }

// FlushAll is Flush of all ranks (MPI_Win_flush_all). It goes on after an error, and
// returns the first.
func (w *Win[T]) FlushAll() error {
	return w.each(func(rank int) error { return w.flush("FlushAll", rank) })
}

// FlushLocal waits until the memory that this rank has given to what it has begun on a rank's memory may
// be used again (MPI_Win_flush_local); what Get was asked for is there.
func (w *Win[T]) FlushLocal(rank int) error {
	if rank == ProcNull {
		return w.usable("FlushLocal", rank)
	}
	t, err := w.target("FlushLocal", rank, 0, 0)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return w.drain(t, "FlushLocal", rank)
}

// FlushLocalAll is FlushLocal of all ranks (MPI_Win_flush_local_all).
func (w *Win[T]) FlushLocalAll() error {
	return w.each(func(rank int) error { return w.FlushLocal(rank) })
}

// each calls f for all ranks, and returns the first error.
func (w *window) each(f func(rank int) error) (first error) {
	for rank := range w.targets {
		if err := f(rank); first == nil {
			first = err
		}
	}
	return first
}

func (w *window) flush(op string, rank int) error {
	t, err := w.at(op, rank)
	if t == nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return w.complete(t, op, rank)
}

// complete waits until all is done at a target, which is locked.
func (w *window) complete(t *target, op string, rank int) error {
	if t.puts {
		// A put of nothing comes behind the small ones that have no requests.
		p, err := w.c.peer(op, rank, Undefined)
		if err != nil {
			return err
		}
		r, err := w.c.seat.ep.Iput(nil, p.addr, t.handle, 0, windowBits, nil)
		if err != nil {
			return w.fail(op, rank, ErrOther, err)
		}
		t.puts = false
		t.pending = append(t.pending, r)
	}
	first := w.drain(t, op, rank)
	if t.accs {
		err := w.ask(op, rank, askFlush, head{}, nil, nil)
		if first == nil {
			first = err
		}
		t.accs = err != nil && w.c.ctx != nil && w.c.ctx.Err() != nil
	}
	return first
}

// at returns the target that a rank stands for: nil for ProcNull.
func (w *window) at(op string, rank int) (*target, error) {
	if err := w.usable(op, rank); err != nil || rank == ProcNull {
		return nil, err
	}
	if rank < 0 || rank >= len(w.targets) {
		return nil, w.fail(op, rank, ErrRank, noRank(rank, len(w.targets)))
	}
	return &w.targets[rank], nil
}

func (w *window) lock(op string, rank int, exclusive bool) error {
	t, err := w.at(op, rank)
	if t == nil {
		return err
	}
	t.mu.Lock()
	if t.held != lockNone {
		t.mu.Unlock()
		return w.fail(op, rank, ErrWin, errors.New("this rank has that lock, or waits for it: Unlock comes first"))
	}
	t.held = lockWanted
	t.mu.Unlock()
	held, h := lockShared, head{}
	if exclusive {
		held, h.flag = lockExclusive, 1
	}
	waits := &w.c.seat.waits
	long := waits.enterNeed(w.c, "Win."+op, hang.Need{Kind: hang.Lock, Peer: w.c.worldRank(rank)})
	err = w.ask(op, rank, askLock, h, nil, nil)
	waits.leave(long)
	if err != nil {
		held = lockNone
		if w.c.ctx != nil && w.c.ctx.Err() != nil {
			w.giveUp(rank)
		}
	}
	if rank == w.c.rank {
		w.exposed.settle()
	}
	t.mu.Lock()
	t.held = held
	t.mu.Unlock()
	return err
}

func (w *window) unlock(op string, rank int) error {
	t, err := w.at(op, rank)
	if t == nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held < lockShared {
		return w.fail(op, rank, ErrWin, errors.New("this rank does not have that lock"))
	}
	first := w.complete(t, op, rank)
	if w.c.ctx != nil && w.c.ctx.Err() != nil {
		return first // it is held still
	}
	if err := w.ask(op, rank, askUnlock, head{}, nil, nil); first == nil {
		first = err
	}
	t.held = lockNone
	return first
}
