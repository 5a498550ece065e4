//go:build linux

package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"gomx/integration/internal/proc"
	"gomx/mpi"
)

// Elements of the window of a lock that ranks make of atomic operations (Mellor-Crummey and Scott's): each waits for its turn by
// asking for its own memory again and again. The last in the queue, and what the lock guards, are at rank 0. Ranks count from 1,
// and 0 is nobody.
const (
	nextInQueue = iota
	mustWait
	lastInQueue
	guarded
	queueElements
)

// TestQueueLock has ranks with one processor each, more than there are cores here, take turns by atomic operations on their own memory. Each
// asks its own process without an end until another one has told it something, which it must hear meanwhile: if only
// Go's scheduler interrupts it, the turns take minutes.
func TestQueueLock(t *testing.T) {
	t.Parallel()
	turns := 1200
	if testing.Short() {
		turns = 100
	}
	overEach(t, func(t *testing.T, medium string) {
		const ranks = 4
		options := byHand(t, ranks, medium)
		var all []*proc.Process
		for rank := range ranks {
			o := options(rank)
			o.Env = append(o.Env, "GOMAXPROCS=1")
			all = append(all, proc.StartWith(t, o, "queuer", turns))
		}
		for _, p := range all {
			p.Hear("ended")
		}
		for _, p := range all {
			p.Say("leave")
		}
		for _, p := range all {
			if err := p.Wait(); err != nil {
				t.Error(err)
			}
		}
	})
}

func queuer(c *proc.Child) {
	world, err := mpi.Init()
	if err != nil {
		c.Fail(err)
	}
	if err := takeTurns(world, int(c.Number(0))); err != nil {
		c.Fail(fmt.Errorf("rank %d: %w", world.Rank(), err))
	}
	c.Say("ended")
	c.Hear()
}

func takeTurns(world *mpi.Comm, turns int) error {
	w, err := mpi.WinAllocate[int64](world, queueElements)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), guard)
	defer cancel()
	w = w.WithContext(ctx)
	if err := w.Fence(); err != nil {
		return err
	}
	q := &queueLock{w: w, me: world.Rank()}
	for range turns {
		q.take()
		q.put(0, guarded, q.get(0, guarded)+1)
		q.give()
		if q.err != nil {
			return q.err
		}
	}
	err = w.Fence()
	if want := int64(turns * world.Size()); world.Rank() == 0 && w.Mem()[guarded] != want {
		err = errors.Join(err, fmt.Errorf("%d turns were taken, not %d", w.Mem()[guarded], want))
	}
	return err
}

// queueLock is the lock as one rank has it. After an error it does nothing.
type queueLock struct {
	w   *mpi.Win[int64]
	me  int
	err error
}

// swap puts a value, or with AccNone none, and returns what was there.
func (q *queueLock) swap(rank, at int, value int64, op mpi.AccOp) (old int64) {
	if q.err == nil {
		old, q.err = q.w.FetchAndOp(value, rank, at, op)
	}
	return old
}

func (q *queueLock) put(rank, at int, value int64)  { q.swap(rank, at, value, mpi.AccReplace) }
func (q *queueLock) get(rank, at int) (value int64) { return q.swap(rank, at, 0, mpi.AccNone) }

func (q *queueLock) take() {
	q.put(q.me, nextInQueue, 0)
	q.put(q.me, mustWait, 1)
	before := q.swap(0, lastInQueue, int64(q.me+1), mpi.AccReplace)
	if before == 0 {
		return
	}
	q.put(int(before-1), nextInQueue, int64(q.me+1))
	for q.err == nil && q.get(q.me, mustWait) == 1 {
	}
}

func (q *queueLock) give() {
	if q.err == nil && q.get(q.me, nextInQueue) == 0 {
		var last int64
		if last, q.err = q.w.CompareAndSwap(int64(q.me+1), 0, 0, lastInQueue); last == int64(q.me+1) {
			return
		}
	}
	for q.err == nil {
		if next := q.get(q.me, nextInQueue); next != 0 {
			q.put(int(next-1), mustWait, 0)
			return
		}
	}
}
