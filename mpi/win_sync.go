package mpi

import (
	"cmp"

	"gomx/mpi/internal/coll"
)

// Fence waits until all ranks have called it and all their operations on the window are complete (MPI_Win_fence). After
// the first Fence all ranks may access each other's memory until the next one. It is collective. It returns the first
// error of this rank's operations, and has taken effect nevertheless. A Fence that fails itself, because a context has
// ended, here or at a rank that the error names, or because a rank has failed, does not change which accesses are
// permitted. Where a context ends the wait for operations, it fails at all ranks, since these may not be complete.
func (w *Win[T]) Fence() error {
	if err := w.open().usable("Fence", Undefined); err != nil {
		return err
	}
	err := w.each("Fence", func(rank int) error { return w.flush("Fence", rank, false) })
	if meet := w.fence(err); meet != nil {
		return cmp.Or(err, meet)
	}
	w.exposed.settle()
	w.state.fenced.Store(true)
	return err
}

// fence waits until all ranks have come, whose operations are complete. flushed is the error of this rank's. If they may not be complete,
// because the context has ended, it fails at all ranks.
func (w *window) fence(flushed error) error {
	if flushed != nil && w.ended() {
		n := w.c.net("Win.Fence")
		return n.finish(n.fail(flushed, func(rest coll.Net) error { return coll.Barrier(rest, coll.Tree) }))
	}
	return w.c.meet("Win.Fence")
}

// meet waits until all ranks have come. Messages go up a tree as they come, and down the same
// tree when all have: nobody leaves before those who still have to connect with it.
func (c *Comm) meet(op string) error {
	n := c.net(op)
	return n.finish(n.meet(n, coll.Tree))
}

// Flush waits until all operations of this rank on a rank's memory are complete there (MPI_Win_flush). Errors: those of
// the operations, ErrWin if the window was freed, ErrRank, ErrProcFailed. Where nothing permits operations, there is nothing to wait for.
func (w *Win[T]) Flush(rank int) error { return w.open().flush("Flush", rank, false) }

// FlushAll is Flush of all ranks (MPI_Win_flush_all). It goes on after an error, and
// returns the first.
func (w *Win[T]) FlushAll() error {
	return w.open().each("FlushAll", func(rank int) error { return w.flush("FlushAll", rank, false) })
}

// FlushLocal waits until this rank may reuse the buffers of its operations on a rank's memory, and the results of Get
// are there (MPI_Win_flush_local). Otherwise it is as Flush.
func (w *Win[T]) FlushLocal(rank int) error { return w.open().flush("FlushLocal", rank, true) }

// FlushLocalAll is FlushLocal of all ranks (MPI_Win_flush_local_all).
func (w *Win[T]) FlushLocalAll() error {
	return w.open().each("FlushLocalAll", func(rank int) error { return w.flush("FlushLocalAll", rank, true) })
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

func (w *window) flush(op string, rank int, local bool) error {
	t, err := w.at(op, rank)
	if t == nil {
		return err
	}
	return w.complete(t, op, rank, local)
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
