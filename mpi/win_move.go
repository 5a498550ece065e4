package mpi

import (
	"cmp"
	"errors"
	"fmt"

	"gomx/mpi/internal/elem"
	"gomx/mx"
)

// Put writes src to the memory of a rank, from an element on (MPI_Put). It is complete when Flush, Unlock or Fence has
// returned; until then src must not change. For ProcNull it does nothing. Errors, after which nothing was started:
// ErrWin if the window was freed or no lock or fence permits the access, ErrRank, ErrRange if it does not fit,
// ErrProcFailed, and those of Flush, since a rank with very many pending operations first waits for them. Safe from any
// goroutine.
func (w *Win[T]) Put(src []T, rank, offset int) error {
	b, _ := elem.Bytes(src)
	return w.open().put(b, rank, offset, len(src))
}

// Get reads elements of a rank into dst, from an element on, as many as dst has (MPI_Get). They are there when Flush,
// Unlock or Fence has returned; until then dst must not be touched. Otherwise it is like Put.
func (w *Win[T]) Get(dst []T, rank, offset int) error {
	b, _ := elem.Bytes(dst)
	return w.open().get(b, rank, offset, len(dst))
}

// mostPending is the limit of pending puts and gets at a target, above which a rank first waits for them.
const mostPending = 1024

func (w *window) put(b []byte, rank, offset, count int) error {
	if rank == ProcNull {
		return w.usable("Put", rank)
	}
	t, p, err := w.aim("Put", rank, offset, count)
	if err != nil || len(b) == 0 {
		return err
	}
	if err := w.begin(t, "Put", rank); err != nil {
		return err
	}
	defer t.mu.Unlock()
	ep, at := w.c.seat.ep, uint32(offset*w.size)
	ok, err := ep.Put(b, p.addr, t.handle, at)
	if err != nil {
		return w.fail("Put", rank, ErrOther, err)
	}
	if ok {
		t.under.puts = true
		return nil
	}
	r, err := ep.Iput(b, p.addr, t.handle, at, windowBits, nil)
	if err != nil {
		return w.fail("Put", rank, ErrOther, err)
	}
	t.under.requests = append(t.under.requests, r)
	return nil
}

func (w *window) get(b []byte, rank, offset, count int) error {
	if rank == ProcNull {
		return w.usable("Get", rank)
	}
	t, p, err := w.aim("Get", rank, offset, count)
	if err != nil || len(b) == 0 {
		return err
	}
	if err := w.begin(t, "Get", rank); err != nil {
		return err
	}
	defer t.mu.Unlock()
	r, err := w.c.seat.ep.Iget(b, p.addr, t.handle, uint32(offset*w.size), windowBits, nil)
	if err != nil {
		return w.fail("Get", rank, ErrOther, err)
	}
	t.under.requests = append(t.under.requests, r)
	return nil
}

// windowBits are the match bits of puts and gets, which don't travel. No message has them:
// contexts are even for the program, and collectives have numbers below.
const windowBits = ^uint64(0)

// broken makes the error of a put or get that mx ended without success.
func (w *window) broken(op string, rank int, err error) error {
	switch {
	case errors.Is(err, mx.StatusBadRDMAWindow):
		return w.fail(op, rank, ErrWin, errors.New("that rank has freed it"))
	case errors.Is(err, mx.StatusBadRDMARange):
		return w.fail(op, rank, ErrRange, err)
	}
	return w.gone(op, rank, err)
}

// gone makes the error of a call whose target can't be reached.
func (w *window) gone(op string, rank int, err error) error {
	switch {
	case w.c.usable(op) != nil:
		return w.usable(op, rank)
	case w.ended():
		return w.fail(op, rank, ErrOther, w.c.ctx.Err())
	}
	if _, dead := errors.AsType[*rankFailure](err); dead {
		return w.fail(op, rank, ErrProcFailed, err)
	}
	if errors.Is(err, mx.StatusRDMANotPermitted) {
		err = errGivenUp // windows are denied to ranks that are taken for dead, and to no others
	}
	world := w.c.worldRank(rank)
	if code, link := err.(mx.StatusCode); err == errGivenUp || link && isLoss(code) { // the control plane's link has heard of the failure first
		return w.fail(op, rank, ErrProcFailed, cmp.Or(w.c.seat.job.failures.why(world), error(&rankFailure{rank: world, cause: err})))
	}
	return w.fail(op, rank, ErrProcFailed, w.c.seat.unconnected(world, err))
}

// aim checks the target of an operation, and returns it with the peer.
func (w *window) aim(op string, rank, offset, count int) (*target, *peer, error) {
	t, err := w.target(op, rank, offset, count)
	if err != nil {
		return nil, nil, err
	}
	p, err := w.c.peer(op, rank, Undefined)
	if err != nil {
		return nil, nil, renamed(err, "Win."+op)
	}
	return t, p, nil
}

// target checks the range of an operation, and whether the window permits it.
func (w *window) target(op string, rank, offset, count int) (*target, error) {
	if err := w.usable(op, rank); err != nil {
		return nil, err
	}
	if rank < 0 || rank >= len(w.targets) {
		return nil, w.fail(op, rank, ErrRank, noRank(rank, len(w.targets)))
	}
	t := &w.targets[rank]
	if offset < 0 || count > t.length || offset > t.length-count {
		return nil, w.fail(op, rank, ErrRange, fmt.Errorf("count %d from offset %d on does not lie in a length of %d", count, offset, t.length))
	}
	if !w.permitted(t) {
		return nil, w.fail(op, rank, ErrWin, errors.New("nothing permits it: call Fence on all ranks, or Lock, before"))
	}
	return t, nil
}

// permitted reports whether a lock or a fence permits operations on a target.
func (w *window) permitted(t *target) bool {
	return w.state.fenced.Load() || t.held.Load()
}

// usable returns why calls on the window can't work, if that is so.
func (w *window) usable(op string, rank int) error {
	if w == nil {
		return failOp("Win."+op, ErrWin, "there is no window; WinCreate and WinAllocate make one")
	}
	if err := w.c.seat.usable(w.c, op); err != nil {
		return renamed(err, "Win."+op)
	}
	if w.state.freed.Load() {
		return w.fail(op, rank, ErrWin, errors.New("it was freed"))
	}
	return nil
}

// fail makes the error of a call on the window.
func (w *window) fail(op string, rank int, class ErrorClass, cause error) error {
	if class == ErrOther {
		return w.c.broken("Win."+op, rank, Undefined, cause)
	}
	return w.c.failWith("Win."+op, rank, Undefined, class, cause)
}
