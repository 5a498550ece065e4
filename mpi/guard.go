package mpi

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"gomx/mx"
)

// The processes of a job stand in a ring, in which each watches the next. Who sees it die
// tells all others, and watches the one behind it from then on. A launcher may tell
// of deaths too; then they are known already.
//
// The ring does not stand for the connections to rank 0 of ranks that have met without a launcher, nor they for it: those tell of a
// death at once, from the first exchange of cards on, but not of the next after rank 0's own; the ring begins later, and goes on whoever has died.
//
// A process that finalizes takes leave of the one that watches it, so that its end is no
// death. Where others go on without it, since a death has made its Finalize fail, the one behind it is watched from then on.

// guards is what a process knows of those who watch it, and of those who have left.
type guards struct {
	mu       sync.Mutex
	watchers []int
	left     map[int]bool
}

// The bounds of the ring. A job that is over within guardDelay has none.
const (
	guardDelay = time.Second
	guardGrace = time.Second // for a leave, or the own Finalize, to come behind what looks like a death
	tellBound  = 10 * time.Second
	tellAtOnce = 16
)

// rankHead is the head of notes about a rank.
const rankHead = 8

func (p *plane) handleGuards() {
	p.Handle(sayWatch, rankHead, func(q *question) {
		p.guards.mu.Lock()
		defer p.guards.mu.Unlock()
		p.guards.watchers = append(p.guards.watchers, q.From)
	})
	p.Handle(sayLeave, rankHead, func(q *question) {
		p.guards.mu.Lock()
		defer p.guards.mu.Unlock()
		if p.guards.left == nil {
			p.guards.left = map[int]bool{}
		}
		p.guards.left[q.From] = true
	})
	p.Handle(sayDead, rankHead, func(q *question) {
		rank := int(binary.LittleEndian.Uint64(q.Head))
		if rank < p.job.size && rank != p.job.launch.Rank() {
			p.job.bury(rank, errors.New(string(q.Data)))
		}
	})
	p.Handle(sayGivenUp, rankHead, func(q *question) { p.job.bury(q.From, errGivenUp) })
}

// errGivenUp is what has become of a rank that takes this one for dead.
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
		if j.deaths.why(next) != nil {
			next = (next + 1) % j.size
			continue
		}
		gone, why := j.watch(ctx, next)
		if !gone || !pause(ctx, guardGrace) {
			return
		}
		if j.plane.guards.hasLeft(next) {
			why = mx.StatusEndpointClosed
		}
		if j.seats[0].finalized.Load() || hasLeft(why) && j.seats[0].finalizing.Load() {
			return
		}
		if j.bury(next, why) && !hasLeft(why) {
			j.tellAll(ctx, next, why)
		}
	}
}

// watch blocks until a process is gone.
func (j *job) watch(ctx context.Context, rank int) (gone bool, why error) {
	if err := j.plane.Tell(ctx, rank, sayWatch, make([]byte, rankHead), nil); err != nil {
		return ctx.Err() == nil, err
	}
	return j.plane.Watch(ctx, rank)
}

// tellAll tells all others of a death.
func (j *job) tellAll(ctx context.Context, dead int, why error) {
	ctx, cancel := context.WithTimeout(ctx, tellBound)
	defer cancel()
	head := binary.LittleEndian.AppendUint64(nil, uint64(dead))
	j.eachOther(func(rank int) {
		_ = j.plane.Tell(ctx, rank, sayDead, head, []byte(fate(why))) // if it fails, that one is dead too, and found out in its turn
	})
}

// eachOther calls f for each other process that is alive, for some at once.
func (j *job) eachOther(f func(rank int)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, tellAtOnce)
	for rank := range j.size {
		if j.process(rank) == j.plane.Self() || j.deaths.why(rank) != nil {
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

// takeLeave tells those who watch this process that its end is no death.
func (j *job) takeLeave() {
	j.plane.guards.mu.Lock()
	watchers := j.plane.guards.watchers
	j.plane.guards.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), guardGrace)
	defer cancel()
	for _, rank := range watchers {
		_ = j.plane.Tell(ctx, rank, sayLeave, make([]byte, rankHead), nil)
	}
}

// keepWaking wakes up those who wait, again and again once somebody has died: a wait that had
// not quite begun when that became known would not end otherwise.
func (j *job) keepWaking() {
	for pause(j.life, slice) {
		j.wake()
	}
}

// wake has all calls of the process that block look around.
func (j *job) wake() {
	for _, s := range j.seats {
		s.ep.Wakeup()
		if j.deaths.count.Load() != 0 {
			s.begun.look()
		}
	}
	j.plane.Wakeup()
}

// pause waits, and returns false if ctx ends before.
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
