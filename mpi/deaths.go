package mpi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"gomx/mpi/launch"
	"gomx/mx"
)

// deaths is what a process knows of ranks that have died.
type deaths struct {
	count atomic.Int32
	mu    sync.Mutex
	of    map[int32]*death
}

// death is the end of a rank before its time. It is an error.
type death struct {
	rank  int // in the world
	cause error
	count int32 // how many the process knew of before
	left  bool  // it has called Finalize, which a death has made fail: nobody's wait for another rank ends because of it
}

func (d *death) Error() string {
	return fmt.Sprintf("rank %d of the world is gone: %s", d.rank, fate(d.cause))
}
func (d *death) Unwrap() error { return d.cause }

// longestCause is how much of an error from below is part of a message about a rank, bytes.
const longestCause = 200

// fate says what became of a rank, in words for those who miss it. Of one whose links have broken for good
// nobody here can tell whether it has ended, nor of one that has ended its session in order why, until it has said so (errGivenUp).
func fate(cause error) string {
	if errors.Is(cause, context.DeadlineExceeded) || errors.Is(cause, os.ErrDeadlineExceeded) || errors.Is(cause, mx.ErrTimeout) || errors.Is(cause, mx.StatusTimeout) {
		return "it does not answer"
	}
	if hasLeft(cause) {
		return "it has called Finalize, or takes this rank for dead"
	}
	if _, status := errors.AsType[mx.StatusCode](cause); status {
		return "it has ended before its time, or its host is cut off"
	}
	return launch.Shorten(cause.Error(), longestCause)
}

// hasLeft reports whether a rank is gone because it has closed its endpoints in order. It is how a session has ended: an error that wraps the
// same code is that of a connect, which has found nobody.
func hasLeft(cause error) bool { return cause == error(mx.StatusEndpointClosed) }

// why returns the death of a rank, or nil if it is not known to be dead.
func (d *deaths) why(rank int) error {
	if d.count.Load() == 0 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if k := d.of[int32(rank)]; k != nil {
		return k
	}
	return nil
}

// bury notes that a rank of the world has died, and reports whether that is news. Waits for
// anybody's message look again, and what was asked of its process ends. A rank that has only been stopped, or cut off, hears that it is taken for dead
// when it goes on: it would otherwise keep locks for this one.
func (j *job) bury(rank int, cause error) bool {
	d := &j.deaths
	d.mu.Lock()
	old := d.of[int32(rank)]
	if old != nil && !(old.left && cause == errGivenUp) { // who has given this rank up ends their session in order
		d.mu.Unlock()
		return false
	}
	if d.of == nil {
		d.of = map[int32]*death{}
	}
	k := &death{rank: rank, cause: cause, count: d.count.Load(), left: hasLeft(cause)}
	d.of[int32(rank)] = k
	first := false
	if old != nil {
		k.count = old.count
	} else {
		first = d.count.Add(1) == 1
	}
	d.mu.Unlock()
	if j.launch != nil && !k.left {
		j.launch.Blame(rank)
	}
	if process := j.process(rank); process != j.plane.Self() {
		j.plane.Lose(process, k)
		j.plane.Post(process, sayGivenUp, make([]byte, rankHead))
	}
	if !k.left {
		j.deny(rank)
	}
	j.plane.dropLocks(rank)
	if !k.left {
		j.giveUp(rank)
	}
	j.wake()
	if first {
		go j.keepWaking()
	}
	return true
}

// deny has the windows of this process refuse what a dead rank may have begun there, before its locks go to others.
func (j *job) deny(rank int) {
	if rank >= len(j.cards) {
		return // no rank knows of another yet
	}
	for _, s := range j.seats {
		if s.rank != rank {
			_ = s.ep.DenyWindows(j.cards[rank].nic, j.cards[rank].door) // an error: the endpoint has been closed
		}
	}
}

// giveUp ends what the seats of the process have with a rank that is known to be dead. A rank that has ended has ended that itself, and one that has left
// has said its last; but one that does not move says nothing, and only who waits for it to move finds that out.
func (j *job) giveUp(rank int) {
	for _, s := range j.seats {
		if p := s.peers[rank].Load(); p != nil && s.rank != rank {
			_ = s.ep.GiveUp(p.addr) // an error: the endpoint has been closed
		}
	}
}

// mourns returns the first death in the communicator, or nil. Who has left in order is not among the dead: those that it
// had to send to have heard of it, or the others hear it from them.
func (c *Comm) mourns() (first *death) {
	d := &c.seat.job.deaths
	if d.count.Load() == 0 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, rank := range c.world {
		if k := d.of[rank]; k != nil && !k.left && (first == nil || k.count < first.count) {
			first = k
		}
	}
	return first
}
