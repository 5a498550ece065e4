package mpi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gomx/mpi/internal/service"
	"gomx/mpi/launch"
	"gomx/mx"
)

// failures are the ranks that a process knows to have failed.
type failures struct {
	count atomic.Int32
	mu    sync.Mutex
	of    map[int32]*rankFailure
	tries map[*attempt]struct{}
}

// attempt is a try to connect to ranks of the world, which ends when one of them is known to have failed.
type attempt struct {
	ranks []int
	end   context.CancelFunc
}

// until returns a context that ends when one of some ranks of the world is known to have failed, or when over is called.
func (d *failures) until(ctx context.Context, ranks ...int) (_ context.Context, over func()) {
	ctx, end := context.WithCancel(ctx)
	a := &attempt{ranks, end}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.tries == nil {
		d.tries = map[*attempt]struct{}{}
	}
	d.tries[a] = struct{}{}
	if slices.ContainsFunc(ranks, func(rank int) bool { return d.of[int32(rank)] != nil }) {
		end()
	}
	return ctx, func() {
		d.mu.Lock()
		delete(d.tries, a)
		d.mu.Unlock()
		end()
	}
}

// present returns those of some ranks of the world that have not left.
func (d *failures) present(world []int32) (ranks []int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, rank := range world {
		if k := d.of[rank]; k == nil || !k.left {
			ranks = append(ranks, int(rank))
		}
	}
	return ranks
}

// rankFailure is an error that says that a rank has failed: it has ended before its time, or can't be reached any more.
type rankFailure struct {
	rank  int // in the world
	cause error
	count int32     // number of failures that the process knew of before
	left  bool      // it has finalized, because of another failure: waits for other ranks go on
	since time.Time // when this process has noted it
}

func (d *rankFailure) Error() string {
	state := "is gone"
	if errors.Is(d.cause, mx.StatusTimeout) {
		state = "is given up"
	}
	return fmt.Sprintf("rank %d of the world %s: %s", d.rank, state, fate(d.cause))
}
func (d *rankFailure) Unwrap() error { return d.cause }

// mayHaveLeft reports whether a rank may have finalized because of another failure: it has, or a connect has found no endpoint of it.
func mayHaveLeft(cause error) bool { return errors.Is(cause, mx.StatusEndpointClosed) }

// longestCause is the size limit in bytes of a cause in a message about a rank.
const longestCause = 200

// fate describes what has become of a rank, for messages. If all links to a rank are broken, it is not known whether the rank
// has ended. If the rank has closed its session in order, the reason is not known before it has sent it (errGivenUp).
func fate(cause error) string {
	if errors.Is(cause, mx.StatusTimeout) {
		return "it has not moved for as long as MX_REQUEST_TIMEOUT says; it may live, and a longer time waits for it"
	}
	if service.Silent(cause) {
		return "it does not answer"
	}
	if hasLeft(cause) {
		return "it has called Finalize, or takes this rank for dead; if it has left a collective out, MX_CHECK=1 says which"
	}
	if mayHaveLeft(cause) {
		return "it has called Finalize, or has ended before its time"
	}
	if _, status := errors.AsType[mx.StatusCode](cause); status {
		return "it has ended before its time, or its host is cut off"
	}
	return launch.Shorten(cause.Error(), longestCause)
}

// hasLeft reports whether a rank has closed its endpoints in order. The cause is then the status of its session. An error that
// only wraps the same code is that of a connect that has found no endpoint.
func hasLeft(cause error) bool { return cause == error(mx.StatusEndpointClosed) }

// why returns the failure of a rank, or nil if it is not known to have failed.
func (d *failures) why(rank int) error {
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

// yields reports whether another cause says more: a rank that treats this one as failed closes their session in order, and one whose
// endpoint was not found may turn out to have died.
func (d *rankFailure) yields(cause error) bool {
	if d.left {
		return cause == errGivenUp
	}
	return mayHaveLeft(d.cause) && !mayHaveLeft(cause)
}

// heard reports whether another process has told of the failure, which tells all, and not only this one has noticed it.
func (d *rankFailure) heard() bool {
	_, said := errors.AsType[hearsay](d.cause)
	_, asMissing := errors.AsType[missing](d.cause)
	return said || asMissing
}

// note notes a failure, and returns it, or nil if it is no news. first: no failure was known before.
func (d *failures) note(rank int, cause error) (k *rankFailure, first bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	old := d.of[int32(rank)]
	if old != nil && !old.yields(cause) {
		return nil, false
	}
	if d.of == nil {
		d.of = map[int32]*rankFailure{}
	}
	k = &rankFailure{rank: rank, cause: cause, count: d.count.Load(), left: hasLeft(cause), since: time.Now()}
	d.of[int32(rank)] = k
	for a := range d.tries {
		if slices.Contains(a.ranks, rank) {
			a.end()
		}
	}
	if old != nil {
		k.count = old.count
	} else {
		first = d.count.Add(1) == 1
	}
	return k, first
}

// noteFailure notes that a rank of the world has failed, and reports whether that is news. Receives from any source check
// again, and calls to the rank's process end. The rank gets a failure notice itself: it may only have been stopped, or cut
// off, and would otherwise keep locks that it has for this one when it goes on.
func (j *job) noteFailure(rank int, cause error) bool {
	k, first := j.failures.note(rank, cause)
	if k == nil {
		return false
	}
	if j.launch != nil && !k.left {
		j.launch.Blame(rank)
	}
	if process := j.process(rank); process != j.control.Self() {
		j.control.Lose(process, k)
		j.control.Post(process, noteGivenUp, make([]byte, rankHead))
	}
	if !k.left {
		j.deny(rank)
	}
	j.control.dropLocks(rank)
	if !k.left {
		j.giveUp(rank)
	}
	j.wake()
	if first {
		go j.labels("failures").Func(j.keepWaking)()
	}
	return true
}

// deny makes the windows of this process refuse operations of a failed rank, before its locks are passed on.
func (j *job) deny(rank int) {
	if rank >= len(j.businessCards) {
		return // no rank knows of another yet
	}
	for _, s := range j.seats {
		if s.rank != rank {
			_ = s.ep.DenyWindows(j.businessCards[rank].nic, j.businessCards[rank].endpointID) // an error: the endpoint has been closed
		}
	}
}

// giveUp ends the sessions of this process's seats with a rank that is known to have failed. The sessions of a rank that has
// ended or finalized end by themselves, but those of a rank that stands still do not.
func (j *job) giveUp(rank int) {
	for _, s := range j.seats {
		if p := s.peers[rank].Load(); p != nil && s.rank != rank {
			_ = s.ep.GiveUp(p.addr) // an error: the endpoint has been closed
		}
	}
}

// before reports whether a failure is rather the cause of the other than the other way round.
func (d *rankFailure) before(other *rankFailure) bool {
	if late := mayHaveLeft(d.cause); late != mayHaveLeft(other.cause) {
		return !late
	}
	return d.count < other.count
}

// failureOf returns the failure of a rank of the communicator that is known to have failed, or of the first of all for AnySource, or nil.
func (c *Comm) failureOf(rank int) error {
	if rank != AnySource {
		return c.seat.job.failures.why(c.worldRank(rank))
	}
	if first := c.firstFailure(); first != nil {
		return first
	}
	return nil
}

// firstFailure returns the failure of the communicator's rank that has failed first, or nil. A rank that has finalized
// counts as failed only where a call needs it, and one that may have comes behind the others.
func (c *Comm) firstFailure() (first *rankFailure) {
	d := &c.seat.job.failures
	if d.count.Load() == 0 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, rank := range c.world {
		if k := d.of[rank]; k != nil && !k.left && (first == nil || k.before(first)) {
			first = k
		}
	}
	return first
}
