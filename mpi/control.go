package mpi

import (
	"context"
	"sync"
	"sync/atomic"

	"gomx/mpi/internal/service"
)

// controlPlane carries the messages between the processes of a job that are not messages of the program.
type controlPlane struct {
	*service.Service
	job *job

	mu      sync.Mutex
	windows map[windowKey]*exposed

	guards guards
	failed atomic.Bool // the program of some rank has; of process 0
	hangs  hangs
}

type question = service.Question

// The kinds of questions and notes.
const (
	noteAccumulate service.Kind = iota + 1 // a note: elements to combine with those of a window
	askFetch                               // like noteAccumulate, and the answer is the elements before
	askSwap                                // compare and swap
	askLock
	askUnlock
	noteUndo    // a note: the sender gives up a lock that it has asked for, and may have got
	askFlush    // answered after all accumulates
	noteWatch   // a note: the sender watches this process
	noteLeave   // a note: the sender has finalized
	noteDead    // a failure notice: a rank has failed
	noteMissing // the same, where the rank may have finalized because of another failure
	askStuck    // to report on the job, because a rank has waited for long
	askState    // what the ranks of the process wait for
	noteGivenUp // a failure notice: the sender treats the receiver as failed
	noteAborted // a note: the sender aborts the job
	askFirst    // whether the program of no other rank has failed before
)

// newControlPlane makes the control plane of a job on a service, which must not have been started.
func newControlPlane(j *job, s *service.Service) *controlPlane {
	p := &controlPlane{Service: s, job: j, windows: map[windowKey]*exposed{}}
	p.handleWindows()
	p.handleGuards()
	p.handleHangs()
	p.handleFirst()
	return p
}

// process returns the number of the process in which a rank of the world lives.
func (j *job) process(rank int) int {
	if j.launch == nil {
		return 0
	}
	return rank
}

// background returns the communicator's context, for calls that otherwise only the end of the job ends.
func (c *Comm) background() context.Context {
	if c.ctx != nil {
		return c.ctx
	}
	return context.Background()
}
