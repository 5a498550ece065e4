package mpi

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"gomx/mpi/internal/service"
	"gomx/mpi/launch"
	"gomx/mx"
)

// The processes of a job form a ring, in which each process watches the next one. A process that notices the failure of the
// next one sends failure notices to all others, and from then on watches the one after it. A launcher may report failures
// as well, and then they are known already.
//
// Ranks without a launcher also have connections to rank 0, which the ring does not replace. They report failures at once,
// from the first exchange of business cards on, but no second failure after that of rank 0. The ring starts later, and goes
// on whichever process fails.
//
// A process that finalizes tells the one that watches it, so that its end is not taken for a failure. If the others go on
// without it, because its Finalize has failed, the process after it is watched from then on.

// guards are the processes that watch this one, and the processes that have finalized.
type guards struct {
	mu       sync.Mutex
	watchers []*question // by which they have said so
	left     map[int]bool
}

// Times of the ring. A job that ends within guardDelay has none.
const (
	guardDelay = time.Second
	guardGrace = time.Second // how long an apparent failure may be followed by noteLeave, or by this process's Finalize
	tellBound  = 10 * time.Second
	tellAtOnce = 16
)

// rankHead is the head of notes about a rank.
const rankHead = 8

func (p *controlPlane) handleGuards() {
	p.Handle(noteWatch, rankHead, func(q *question) {
		p.guards.mu.Lock()
		defer p.guards.mu.Unlock()
		p.guards.watchers = append(p.guards.watchers, q.Later())
	})
	p.Handle(noteLeave, rankHead, func(q *question) {
		p.guards.mu.Lock()
		defer p.guards.mu.Unlock()
		if p.guards.left == nil {
			p.guards.left = map[int]bool{}
		}
		p.guards.left[q.From] = true
	})
	p.Handle(noteDead, rankHead, func(q *question) { p.hearOf(q, hearsay(q.Data)) })
	p.Handle(noteMissing, rankHead, func(q *question) { p.hearOf(q, missing(q.Data)) })
	p.Handle(noteAborted, rankHead, func(q *question) {
		if !p.job.seats[0].finalized.Load() {
			p.job.exitAborted(&launch.Aborted{Rank: q.From, Code: int(binary.LittleEndian.Uint64(q.Head)), Reason: string(q.Data)})
		}
	})
	p.Handle(noteGivenUp, rankHead, func(q *question) { p.job.noteFailure(q.From, errGivenUp) })
}

// hearOf notes the failure of which another process has sent a notice.
func (p *controlPlane) hearOf(q *question, why error) {
	rank := int(binary.LittleEndian.Uint64(q.Head))
	if rank < p.job.size && rank != p.job.launch.Rank() {
		p.job.noteFailure(rank, why)
	}
}

// hearsay is the cause of a failure of which another process has said this.
type hearsay string

func (e hearsay) Error() string { return string(e) }

// missing is the cause of a failure that another process knows of only because it has found no endpoint of the rank.
type missing string

func (e missing) Error() string { return string(e) }

// Is says that the endpoint was closed, as the error of the connect does.
func (e missing) Is(target error) bool { return target == error(mx.StatusEndpointClosed) }

// errGivenUp is the cause of the failure of a rank that treats this one as failed.
var errGivenUp = errors.New("it takes this rank for dead")

func (g *guards) hasLeft(rank int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.left[rank]
}

// guard watches the next process until the job is over.
func (j *job) guard(ctx context.Context) {
	if !pause(ctx, guardDelay) {
		return
	}
	self := j.launch.Rank()
	for next := (self + 1) % j.size; next != self; {
		if j.failures.why(next) != nil {
			j.tellOf(ctx, next)
			next = (next + 1) % j.size
			continue
		}
		gone, why := j.watch(ctx, next)
		if !gone || !pause(ctx, guardGrace) {
			return
		}
		if j.control.guards.hasLeft(next) {
			why = mx.StatusEndpointClosed
		}
		if s := j.seats[0]; s.finalized.Load() || s.allCame.Load() || hasLeft(why) && s.finalizing.Load() {
			return
		}
		j.telling.Add(1)
		j.noteFailure(next, why)
		j.tellOf(ctx, next)
		j.telling.Add(-1)
		next = (next + 1) % j.size
	}
}

// tellOf sends failure notices of the watched process to all others, unless another one has told this one.
func (j *job) tellOf(ctx context.Context, rank int) {
	j.telling.Add(1)
	defer j.telling.Add(-1)
	if k, _ := errors.AsType[*rankFailure](j.failures.why(rank)); !k.left && !k.heard() {
		j.tellAll(ctx, rank, k.cause)
	}
}

// finishTelling waits until the others have been told of the failures that this process has noticed, for a moment. It may be the only one
// that has.
func (j *job) finishTelling() {
	for limit := time.Now().Add(lastWords); j.telling.Load() > 0 && time.Now().Before(limit) && pause(j.life, time.Millisecond); {
	}
}

// watch blocks until a process has failed. One that does not answer the connect may be stopped, which is no failure: it is asked again.
func (j *job) watch(ctx context.Context, rank int) (gone bool, why error) {
	for {
		switch err := j.control.Tell(ctx, rank, noteWatch, make([]byte, rankHead), nil); {
		case err == nil:
			return j.control.Watch(ctx, rank)
		case ctx.Err() != nil || !service.Silent(err) || j.failures.why(rank) != nil:
			return ctx.Err() == nil, err
		}
	}
}

// tellAll sends failure notices to all others.
func (j *job) tellAll(ctx context.Context, dead int, why error) {
	ctx, cancel := context.WithTimeout(ctx, tellBound)
	defer cancel()
	head := binary.LittleEndian.AppendUint64(nil, uint64(dead))
	note := noteDead
	if mayHaveLeft(why) {
		note = noteMissing
	}
	j.eachOther(func(rank int) {
		_ = j.control.Tell(ctx, rank, note, head, []byte(fate(why))) // an error: that process has failed too, which the ring notices in its turn
	})
}

// eachOther calls f for each other process that is not known to have failed, for several at once.
func (j *job) eachOther(f func(rank int)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, tellAtOnce)
	for rank := range j.size {
		if j.process(rank) == j.control.Self() || j.failures.why(rank) != nil {
			continue
		}
		slots <- struct{}{}
		all.Go(func() {
			f(rank)
			<-slots
		})
	}
	all.Wait()
}

// takeLeave tells the processes that watch this one, and that have not ended before, that its end will be no failure. Closing the service
// waits until they have the note.
func (j *job) takeLeave() {
	j.control.guards.mu.Lock()
	watchers := j.control.guards.watchers
	j.control.guards.mu.Unlock()
	for _, q := range watchers {
		q.Reply(noteLeave, make([]byte, rankHead))
	}
}

// keepWaking wakes up all calls that block, again and again once a rank has failed: a wait that was just about to start when
// the failure became known would not end otherwise.
func (j *job) keepWaking() {
	for pause(j.life, slice) {
		j.wake()
	}
}

// wake makes all calls of the process that block check for failures.
func (j *job) wake() {
	for _, s := range j.seats {
		s.ep.Wakeup()
		if j.failures.count.Load() != 0 {
			s.nonblocking.look()
		}
	}
	j.control.Wakeup()
}

// pause waits, and returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
