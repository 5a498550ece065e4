package mpi

import "cmp"

// Fence waits until all ranks have come, and all that they have started on the window is done
// (MPI_Win_fence). After the first one, all ranks may touch each other's memory until the
// next. It is collective. The first error of what was started is returned, behind the Fence. A Fence that does not come about, because a
// context ended, here or at a rank that the error names, or a rank has died, permits nothing that was not permitted before.
func (w *Win[T]) Fence() error {
	if err := w.open().usable("Fence", Undefined); err != nil {
		return err
	}
	err := w.FlushAll()
	if meet := w.c.meet("Win.Fence", w.made); meet != nil {
		return cmp.Or(err, meet)
	}
	w.exposed.settle()
	w.state.fenced.Store(true)
	return err
}

// Flush waits until all that this rank has started on a rank's memory is done there
// (MPI_Win_flush). Errors: those of what was started, ErrWin, ErrRank, ErrProcFailed.
func (w *Win[T]) Flush(rank int) error { return w.open().flush("Flush", rank) }

// FlushAll is Flush of all ranks (MPI_Win_flush_all). It goes on after an error, and
// returns the first.
func (w *Win[T]) FlushAll() error {
	return w.open().each("FlushAll", func(rank int) error { return w.flush("FlushAll", rank) })
}

// FlushLocal waits until the memory that this rank has given to what it has started on a rank's memory may
// be used again (MPI_Win_flush_local); what Get was asked for is there.
func (w *Win[T]) FlushLocal(rank int) error { return w.open().flushLocal("FlushLocal", rank) }

// FlushLocalAll is FlushLocal of all ranks (MPI_Win_flush_local_all).
func (w *Win[T]) FlushLocalAll() error {
	return w.open().each("FlushLocalAll", func(rank int) error { return w.flushLocal("FlushLocalAll", rank) })
}

// each calls f for all ranks of a window that is usable, and returns the first error.
func (w *window) each(op string, f func(rank int) error) (first error) {
	if err := w.usable(op, Undefined); err != nil {
		return err
	}
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
	return w.complete(t, op, rank, false)
}

func (w *window) flushLocal(op string, rank int) error {
	if rank == ProcNull {
		return w.usable(op, rank)
	}
	t, err := w.target(op, rank, 0, 0)
	if err != nil {
		return err
	}
	return w.complete(t, op, rank, true)
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
