package launch

import (
	"sync"

	"gomx/internal/labels"
)

// inLaunch are the labels of the goroutines that hear of the launcher and of other ranks.
var inLaunch = labels.For("launch")

// ending tracks the failures of other ranks, and the end of the job, for a rank that has no launcher.
type ending struct {
	mu       sync.Mutex
	gone     chan struct{}
	reason   error
	isDone   bool // this rank or the root has finalized: ends of connections are no failures any more
	failures chan int
	told     map[int]bool
}

func (e *ending) start(size int) {
	e.gone, e.failures, e.told = make(chan struct{}), make(chan int, size), map[int]bool{}
}

// end marks the job as lost, unless it is over.
func (e *ending) end(why error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.reason == nil && !e.isDone {
		e.reason = why
		close(e.gone)
	}
}

func (e *ending) over() {
	e.mu.Lock()
	e.isDone = true
	e.mu.Unlock()
}

func (e *ending) isOver() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.isDone
}

// report notes that a rank has failed, and passes that on once.
func (e *ending) report(rank int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.told[rank] && rank >= 0 && rank < cap(e.failures) {
		e.told[rank] = true
		e.failures <- rank
	}
}

func (e *ending) lost() <-chan struct{} { return e.gone }

func (e *ending) dead() <-chan int { return e.failures }

func (e *ending) why() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.reason
}
