package mpi

import (
	"context"
	"sync"

	"gomx/mpi/internal/service"
)

// plane is what this process and the others of the job say to each other apart from the
// program's messages.
type plane struct {
	*service.Service
	job *job

	mu      sync.Mutex
	windows map[windowKey]*exposed

	guards guards
	hangs  hangs
}

type question = service.Question

// The kinds of questions and notes.
const (
	sayAccumulate service.Kind = iota + 1 // a note: elements to combine with a window's
	askFetch                              // the same, and what was there before
	askSwap                               // compare and swap
	askLock
	askUnlock
	sayUndo    // a note: who asked for a lock, and may have it, does not want it any more
	askFlush   // answered behind all accumulates
	sayWatch   // a note: who says it watches this process
	sayLeave   // a note: who says it has finalized
	sayDead    // a note: a rank has died
	askStuck   // to look into the job, because a rank has waited for long
	askState   // what the ranks of the process wait for
	sayGivenUp // a note: who says it takes the one who is told for dead
)

// newPlane makes the plane of a job on a service, which has not begun.
func newPlane(j *job, s *service.Service) *plane {
	p := &plane{Service: s, job: j, windows: map[windowKey]*exposed{}}
	p.handleWindows()
	p.handleGuards()
	p.handleHangs()
	return p
}

// process returns the number of the process in which a rank of the world lives.
func (j *job) process(rank int) int {
	if j.launch == nil {
		return 0
	}
	return rank
}

// background is for calls that nothing ends but the job.
func (c *Comm) background() context.Context {
	if c.ctx != nil {
		return c.ctx
	}
	return context.Background()
}
