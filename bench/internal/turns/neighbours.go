package turns

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"gomx/bench/internal/child"
)

// neighbour is the program that computes beside what is measured.
const neighbour = "busy"

// amongNeighbours starts as many of them as there are cores, with -busy. The context ends if one of them does; end ends them.
func (c *comparison) amongNeighbours(parent context.Context) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(parent)
	if !c.busy {
		return ctx, func() { cancel(nil) }
	}
	var running sync.WaitGroup
	for range runtime.NumCPU() {
		running.Go(func() {
			_, _, err := child.Run(ctx, child.Command{Path: c.subjects[0].program(neighbour)})
			cancel(fmt.Errorf("a busy neighbour has ended: %v", err))
		})
	}
	return ctx, func() {
		cancel(nil)
		running.Wait()
	}
}
