package sim

import (
	"fmt"
	"time"

	"gomx/endpoint"
)

// drain lets the network heal and everything end: all messages are sent, received
// and acknowledged, within the timeout.
func (w *World) drain() {
	w.draining = true
	limit := w.net.Now() + 2*time.Duration(w.plan.Engine.RequestTimeout)*tick + time.Minute
	for _, n := range w.nodes {
		n.idle = 0
		n.schedule(0)
	}
	for w.err == nil {
		w.runFor(5 * tick)
		busy := w.busy()
		if busy == nil {
			break
		}
		if w.net.Now() > limit {
			w.fail(busy, "it does not come to an end after everything has healed: %v", w.leftovers(busy))
		}
	}
	for _, n := range w.nodes {
		n.endCounter()
		for i := len(n.ops) - 1; i >= 0 && !w.plant.keepReceives; i-- {
			n.cancelOp(n.ops[i])
		}
	}
	for w.err == nil && w.net.Now() < limit { // acks, goodbyes, and what only time ends
		w.runFor(5 * tick)
		for i, n := range w.nodes {
			if w.leftovers(n) != nil {
				break
			}
			if i == len(w.nodes)-1 {
				return
			}
		}
	}
}

func (w *World) runFor(d time.Duration) {
	for then := w.net.Now() + d; w.err == nil && w.net.Now() < then; {
		if !w.net.Step() {
			return
		}
	}
}

// busy returns an endpoint that has something under way, or nil.
func (w *World) busy() *node {
	for _, n := range w.nodes {
		d := n.engine.Depths()
		if n.left > 0 || n.sends > 0 || d.Unexpected > 0 || d.Pulls > 0 || d.Kept > 0 || d.Early > 0 || d.Completed+n.engine.Queued(n.queue) > 0 ||
			d.Requests != n.receives+2 || n.engine.Backlog() { // the others are thresholds
			return n
		}
	}
	if w.net.UnderWay() > 0 {
		return w.nodes[0]
	}
	return nil
}

// check goes over the history when all has ended.
func (w *World) check() {
	for _, n := range w.nodes {
		n.checkWindows(true)
		if left := w.leftovers(n); left != nil {
			w.fail(n, "what is left at the end: %v", left)
		}
		if c := n.engine.Counters(); c.Malformed+c.Corrupt > 0 {
			w.fail(n, "%d frames make no sense, %d links are called corrupt", c.Malformed, c.Corrupt)
		}
	}
	if n := w.buffers.written; n > 0 {
		w.fail(w.nodes[0], "%d buffers were written to after their requests had ended", n)
	}
	for from, lives := range w.lives {
		for life, flows := range lives {
			for to := range flows {
				if err := flows[to].check(w, from, life, to, !w.spoiled(from, to)); err != nil {
					w.fail(w.nodes[to], "%v", err)
					return
				}
			}
		}
	}
}

// leftovers says what should not be there when a history has ended.
func (w *World) leftovers(n *node) (left []string) {
	d := n.engine.Depths()
	for _, c := range [...]struct {
		what string
		n    int
	}{
		{"requests", d.Requests}, {"posted receives", d.Posted}, {"unexpected messages", d.Unexpected},
		{"unexpected bytes", d.Bytes}, {"completions", d.Completed + n.engine.Queued(n.queue)}, {"pulls", d.Pulls}, {"kept frames", d.Kept},
		{"early frames", d.Early}, {"frames undelivered", n.engine.Undelivered()},
		{"requests of the program", len(n.ops)}, {"messages to send", n.left}, {"exported pieces", n.port.Exported()},
		{"frames on the network", w.net.UnderWay()},
	} {
		if c.n != 0 {
			left = append(left, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	if n.engine.Backlog() {
		left = append(left, "a backlog")
	}
	if due := n.engine.NextDue(); due != endpoint.Never {
		left = append(left, fmt.Sprintf("something due in %d ticks", int64(due)-int64(n.engine.Now())))
	}
	return left
}
