package sim

import (
	"fmt"

	"gomx/endpoint"
)

// Some sends of a program are counted and not collected: it knows that they have ended, all of them, when the counter has come to their
// number. None of this draws random numbers.

// counted are such sends of a life.
type counted struct {
	counter  endpoint.QueueID
	ops      []*op // those that may not have ended
	ended    uint64
	failures uint64 // of those
}

// count reports whether a send is to be counted: not a synchronous one, which tells of receives that were too short.
func (n *node) count(o *op) bool {
	return o.level != endpoint.Matched && mix(o.message.match()^0x636f756e)%100 < uint64(n.w.plan.Counted)
}

// checkCounted looks whether all sends that the counter counts have ended.
func (n *node) checkCounted() {
	c := &n.counted
	successes, failures := n.engine.Counts(c.counter)
	all := c.ended + uint64(len(c.ops))
	if successes+failures > all {
		n.w.fail(n, "a counter of sends has counted %d and %d, of %d", successes, failures, all)
	}
	if len(c.ops) == 0 || successes+failures < all {
		return
	}
	if err := n.endCounted(failures - c.failures); err != nil {
		n.w.fail(n, "%v", err)
	}
	c.ended, c.failures = all, failures
	c.ops = c.ops[:0]
}

// endCounted notes that sends have ended of which so many have failed. Which ones is not told.
func (n *node) endCounted(failed uint64) error {
	excused := failed == 0
	for _, o := range n.counted.ops {
		r := &n.flows[o.peer].sent[o.message.number]
		if failed > 0 {
			r.state |= recordLost
			excused = excused || n.w.spoiled(n.index, o.peer) || r.state&recordDropped != 0
		} else {
			r.state |= recordEnded
			if o.level == endpoint.Acknowledged && o.peer != n.index && r.state&recordArrived == 0 {
				return fmt.Errorf("send of message %v is counted as acknowledged, but nothing of it has arrived", o.message)
			}
		}
		n.w.report.Counted++
		n.ended(o)
	}
	if n.w.report.Failed += int(failed); !excused {
		return fmt.Errorf("%d of %d counted sends fail without reason", failed, len(n.counted.ops))
	}
	return nil
}
