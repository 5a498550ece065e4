package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"gomx/mpi"
	"gomx/mx"
)

func init() {
	programs["windows"] = windowProgram
	programs["window orphan"] = windowOrphan
	programs["lock orphan"] = lockOrphan
	programs["lock target dies"] = lockTargetDies
}

func TestProcessesWithWindows(t *testing.T) {
	amongOthers(t)
	for _, transport := range []string{"shm", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			amongOthers(t)
			skipWithout(t, transport)
			for rank, e := range job(t, "windows", 3, "MX_TRANSPORT="+transport) {
				if e.code != 0 || e.output != "" {
					t.Errorf("rank %d: exit code %d, %s", rank, e.code, e.output)
				}
			}
		})
	}
}

// windowProgram uses everything that goes over the service of another process.
func windowProgram(c *mpi.Comm) error {
	const n = 30_000
	w, err := mpi.WinAllocate[int64](c, n)
	if err != nil {
		return err
	}
	if err := errors.Join(drawAll(c, w), addAll(c, w), exchangeLarge(c, w), lockInTurn(c, w)); err != nil {
		return err
	}
	return w.Free()
}

// drawAll draws numbers from rank 0, which computes.
func drawAll(c *mpi.Comm, w *mpi.Win[int64]) error {
	const draws = 100
	mine := make([]int64, draws)
	if err := w.Lock(0, false); err != nil {
		return err
	}
	for i := range mine {
		var err error
		if mine[i], err = w.FetchAndOp(1, 0, 0, mpi.AccSum); err != nil {
			return err
		}
	}
	if err := w.Unlock(0); err != nil {
		return err
	}
	all := make([]int64, draws*c.Size())
	if err := mpi.Allgather(c, mine, all); err != nil {
		return err
	}
	slices.Sort(all)
	for i, v := range all {
		if v != int64(i) {
			return fmt.Errorf("draw %d is %d", i, v)
		}
	}
	return nil
}

func addAll(c *mpi.Comm, w *mpi.Win[int64]) error {
	if err := w.Fence(); err != nil {
		return err
	}
	clear(w.Mem())
	ones := make([]int64, len(w.Mem()))
	for i := range ones {
		ones[i] = int64(i)
	}
	err := w.Fence()
	for rank := range c.Size() {
		err = errors.Join(err, w.Accumulate(ones, rank, 0, mpi.AccSum))
	}
	if err = errors.Join(err, w.Fence()); err != nil {
		return err
	}
	for i, v := range w.Mem() {
		if v != int64(i*c.Size()) {
			return fmt.Errorf("element %d is %d", i, v)
		}
	}
	return nil
}

func exchangeLarge(c *mpi.Comm, w *mpi.Win[int64]) error {
	n, next := len(w.Mem()), (c.Rank()+1)%c.Size()
	src, old := make([]int64, n), make([]int64, n)
	for i := range src {
		src[i] = int64(c.Rank() + 10*i)
	}
	err := errors.Join(w.Fence(), w.GetAccumulate(src, old, next, 0, mpi.AccReplace), w.Fence())
	got := make([]int64, n)
	err = errors.Join(err, w.Get(got, next, 0), w.Flush(next))
	if err != nil {
		return err
	}
	for i, v := range old {
		if v != int64(i*c.Size()) {
			return fmt.Errorf("element %d was %d", i, v)
		}
	}
	return errors.Join(same(got, src), w.Fence())
}

// lockInTurn changes two places under an exclusive lock, which don't differ for whoever has it.
func lockInTurn(c *mpi.Comm, w *mpi.Win[int64]) error {
	last := c.Size() - 1
	clear(w.Mem())
	if err := w.Fence(); err != nil {
		return err
	}
	for range 20 {
		pair := make([]int64, 2)
		if err := errors.Join(w.Lock(last, true), w.Get(pair, last, 7), w.Flush(last)); err != nil {
			return err
		}
		if pair[0] != pair[1] {
			return fmt.Errorf("rank %d sees %v", c.Rank(), pair)
		}
		next := []int64{pair[0] + 1, pair[1] + 1}
		if err := errors.Join(w.Put(next[:1], last, 7), w.Put(next[1:], last, 8), w.Unlock(last)); err != nil {
			return err
		}
	}
	err := w.Fence()
	if want := int64(20 * c.Size()); err == nil && c.Rank() == last && w.Mem()[7] != want {
		err = fmt.Errorf("the counter is %d, want %d", w.Mem()[7], want)
	}
	return err
}

// TestWindowOfTheDead: what is started towards a rank that has died ends with its name.
func TestWindowOfTheDead(t *testing.T) {
	for _, transport := range []string{"shm", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			skipWithout(t, transport)
			for rank, e := range job(t, "window orphan", 3, "MX_TRANSPORT="+transport) {
				if want := []int{0, 7, 0}[rank]; e.code != want || e.output != "" {
					t.Errorf("rank %d: exit code %d, %s", rank, e.code, e.output)
				}
			}
		})
	}
}

func windowOrphan(c *mpi.Comm) error {
	w, err := mpi.WinAllocate[int64](c, 100_000)
	if err != nil {
		return err
	}
	if err := w.Fence(); err != nil {
		return err
	}
	if c.Rank() == 1 { // it dies when the others have left the fence
		_, err0 := mpi.Recv(c, make([]byte, 1), 0, 0)
		_, err2 := mpi.Recv(c, make([]byte, 1), 2, 0)
		if err := errors.Join(err0, err2); err != nil {
			return err
		}
		os.Exit(7)
	}
	if err := mpi.Send(c, []byte{1}, 1, 0); err != nil {
		return err
	}
	until := time.Now().Add(bound / 2)
	for time.Now().Before(until) {
		_, errFetch := w.FetchAndOp(1, 1, 0, mpi.AccSum)
		errPut := errors.Join(w.Put(make([]int64, 50_000), 1, 0), w.Flush(1))
		if errFetch == nil || errPut == nil {
			continue // it takes a moment
		}
		_, again := w.CompareAndSwap(1, 1, 1, 0)
		for _, err := range []error{errFetch, errPut, again, w.Put([]int64{1}, 1, 0), w.Get([]int64{1}, 1, 0), w.Lock(1, true)} {
			if err := wantError(err, mpi.ErrProcFailed, c.Rank()); err != nil {
				return err
			}
			if !strings.Contains(err.Error(), "rank 1") {
				return fmt.Errorf("%q does not name the dead", err)
			}
		}
		return part(c)
	}
	return errors.New("nobody dies")
}

// TestLockOfTheDead: a lock whose holder dies goes to the next.
func TestLockOfTheDead(t *testing.T) {
	for rank, e := range job(t, "lock orphan", 3) {
		if want := []int{0, 7, 0}[rank]; e.code != want || e.output != "" {
			t.Errorf("rank %d: exit code %d, %s", rank, e.code, e.output)
		}
	}
}

func lockOrphan(c *mpi.Comm) error {
	w, err := mpi.WinAllocate[int64](c, 1)
	if err != nil {
		return err
	}
	if c.Rank() == 1 {
		if err := w.Lock(0, true); err != nil {
			return err
		}
	}
	if err := c.Barrier(); err != nil {
		return err
	}
	switch c.Rank() {
	case 1:
		for _, from := range []int{0, 2} { // both have left the Barrier
			if _, err := mpi.Recv(c, make([]byte, 1), from, 0); err != nil {
				return err
			}
		}
		os.Exit(7)
	case 2:
		if err := mpi.Send(c, []byte{1}, 1, 0); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), bound/2)
		defer cancel()
		if err := w.WithContext(ctx).Lock(0, true); err != nil {
			return err
		}
		if err := errors.Join(w.Put([]int64{5}, 0, 0), w.Unlock(0), mpi.Send(c, []byte{1}, 0, 0)); err != nil {
			return err
		}
	default:
		if err := mpi.Send(c, []byte{1}, 1, 0); err != nil {
			return err
		}
		if _, err := mpi.Recv(c, make([]byte, 1), 2, 0); err != nil {
			return err
		}
	}
	return part(c)
}

// TestLockAtTheDying: who waits for a lock at a rank that dies hears that it is gone, and not what became of a link.
func TestLockAtTheDying(t *testing.T) {
	for _, transport := range []string{"shm", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			skipWithout(t, transport)
			for rank, e := range job(t, "lock target dies", 3, "MX_TRANSPORT="+transport) {
				if want := []int{0, 7, 0}[rank]; e.code != want || e.output != "" {
					t.Errorf("rank %d: exit code %d, %s", rank, e.code, e.output)
				}
			}
		})
	}
}

func lockTargetDies(c *mpi.Comm) error {
	w, err := mpi.WinAllocate[int64](c, 1)
	if err != nil {
		return err
	}
	if c.Rank() == 1 {
		if err := w.Lock(1, true); err != nil {
			return err
		}
	}
	if err := c.Barrier(); err != nil {
		return err
	}
	if c.Rank() == 1 {
		for _, from := range []int{0, 2} {
			if _, err := mpi.Recv(c, make([]byte, 1), from, 0); err != nil {
				return err
			}
		}
		time.Sleep(100 * time.Millisecond) // most often they wait for the lock by then
		os.Exit(7)
	}
	if err := mpi.Send(c, []byte{1}, 1, 0); err != nil {
		return err
	}
	err = w.Lock(1, true)
	if e := wantError(err, mpi.ErrProcFailed, c.Rank()); e != nil {
		return e
	}
	if !strings.Contains(err.Error(), "rank 1 of the world is gone: ") {
		return fmt.Errorf("%q does not say that the rank is gone", err)
	}
	return part(c)
}

// TestLockGivesUp: a context ends the wait for a lock, which then goes to others.
func TestLockGivesUp(t *testing.T) {
	over(t, 3, func(c *mpi.Comm) error {
		w, err := mpi.WinAllocate[int64](c, 1)
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			if err := w.Lock(2, true); err != nil {
				return err
			}
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		if c.Rank() == 1 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
			defer cancel()
			err := w.WithContext(ctx).Lock(2, true)
			if !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("a lock that is held: %v", err)
			}
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		if c.Rank() == 0 {
			if err := w.Unlock(2); err != nil {
				return err
			}
		}
		return errors.Join(w.Lock(2, true), w.Unlock(2), w.Free())
	})
}

func init() { programs["free after a death"] = freeAfterADeath }

// TestWinFreeAfterADeath: the survivors' Free says that a rank has died, also of what another survivor refuses because it has
// freed the window by then.
func TestWinFreeAfterADeath(t *testing.T) {
	amongOthers(t)
	for _, transport := range []string{"shm", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			amongOthers(t)
			skipWithout(t, transport)
			for rank, e := range job(t, "free after a death", 3, "MX_TRANSPORT="+transport)[:2] {
				if e.code != 0 || e.output != "" {
					t.Errorf("rank %d: exit code %d, %s", rank, e.code, e.output)
				}
			}
		})
	}
}

func freeAfterADeath(c *mpi.Comm) error {
	w, err := mpi.WinAllocate[int64](c, 10)
	if err != nil {
		return err
	}
	if err := errors.Join(w.Fence(), c.Barrier()); err != nil {
		return err
	}
	if c.Rank() == 2 {
		os.Exit(7)
	}
	if _, err := mpi.Recv(c, make([]int64, 1), 2, 0); !errors.Is(err, mpi.ErrProcFailed) {
		return fmt.Errorf("received of the dead: %w", err)
	}
	if c.Rank() == 1 {
		if _, err := mpi.Recv(c, make([]int64, 1), 0, 0); err != nil { // it has freed the window
			return err
		}
		if err := w.Put([]int64{1}, 0, 0); err != nil {
			return err
		}
	}
	if err := w.Free(); !errors.Is(err, mpi.ErrProcFailed) || errors.Is(err, mpi.ErrWin) {
		return fmt.Errorf("freed: %w", err)
	}
	if c.Rank() == 0 {
		if err := mpi.Send(c, []int64{1}, 1, 0); err != nil {
			return err
		}
	}
	return part(c)
}

// TestWinFreeAfterAnAbort: the memory of WinAllocate is given back though the job has ended.
func TestWinFreeAfterAnAbort(t *testing.T) {
	skipWithout(t, "shm")
	var mem []int64
	err := run(t, 2, func(c *mpi.Comm) error {
		w, err := mpi.WinAllocate[int64](c, 1000)
		if err != nil {
			return err
		}
		if c.Rank() == 1 {
			_, err := mpi.Recv(c, make([]int64, 1), 0, 0) // rank 0 has the window, too
			return errors.Join(err, errors.New("no more"))
		}
		defer w.Free()
		mem = w.Mem()
		if err := mpi.Send(c, mem[:1], 1, 0); err != nil {
			return err
		}
		_, err = mpi.Recv(c, make([]int64, 1), 1, 0)
		return err
	}, mpi.WithTransports("shm"))
	if err == nil || mem == nil {
		t.Fatalf("the job ended with %v", err)
	}
	if err := mx.Free(unsafe.Slice((*byte)(unsafe.Pointer(&mem[0])), 8*len(mem))); !errors.Is(err, mx.ErrBadSegMem) {
		t.Errorf("the memory was not given back: %v", err)
	}
}
