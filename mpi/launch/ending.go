package launch

import "sync"

// ending is what a rank that meets others without a launcher learns of their ends.
type ending struct {
	mu     sync.Mutex
	gone   chan struct{}
	reason error
	isDone bool // this rank or the root has taken leave: nothing is a loss any more
	deaths chan int
	told   map[int]bool
}

func (e *ending) start(size int) {
	e.gone, e.deaths, e.told = make(chan struct{}), make(chan int, size), map[int]bool{}
}

// end says that the job is lost, unless it is over.
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

// report tells of a rank's death, once.
func (e *ending) report(rank int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.told[rank] && rank >= 0 && rank < cap(e.deaths) {
		e.told[rank] = true
		e.deaths <- rank
	}
}

func (e *ending) lost() <-chan struct{} { return e.gone }

func (e *ending) dead() <-chan int { return e.deaths }

func (e *ending) why() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.reason
}
