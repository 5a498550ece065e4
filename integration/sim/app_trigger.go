package sim

import "gomx/endpoint"

// Some sends of a program are triggered by a counter of its own, the steps. A step is a turn of the program, and every so many
// puts of peers, which a counted threshold tells it: those come while a frame is taken. None of this draws random numbers.

// mostSteps is how many steps a send waits at most.
const mostSteps = 4

// step counts a turn, and begins what that triggers, as an endpoint does.
func (n *node) step() {
	n.engine.Increment(n.steps, 1)
	if n.engine.Triggered() {
		n.engine.Flush()
	}
}

// countThreshold makes a step when the counter of puts comes to a number.
func (n *node) countThreshold(at uint64) {
	h := n.engine.Threshold(n.puts.counter, at, 0, nil)
	if err := n.engine.Count(n.steps, 1, func(int) endpoint.Handle { return h }); err != nil {
		n.w.fail(n, "count a threshold: %v", err)
	}
}

// trigger returns when a message is to be sent. False: at once.
func (n *node) trigger(m message) (endpoint.Trigger, bool) {
	now, _ := n.engine.Counts(n.steps)
	last := &n.peers[m.to].until
	at := *last
	if x := mix(m.match() ^ 0x74726967); x%100 < uint64(n.w.plan.Triggered) {
		at = max(at, now+1+x>>32%mostSteps)
	}
	*last = at
	return endpoint.Trigger{Counter: n.steps, At: at}, at > now || n.engine.Triggered()
}

// takenBack notes that a send which had not begun was cancelled.
func (n *node) takenBack(o *op) {
	r := &n.flows[o.peer].sent[o.message.number]
	r.state |= recordEnded | recordTaken
	n.w.report.TakenBack++
}

// endSteps gives the counters back. The threshold of puts that the steps count ends with its counter, and is a failure.
func (n *node) endSteps() {
	n.engine.CloseQueue(n.puts.counter)
	if _, failures := n.engine.Counts(n.steps); failures != 1 {
		n.w.fail(n, "the steps have %d failures in place of one", failures)
	}
	n.engine.CloseQueue(n.steps)
}
