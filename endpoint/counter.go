package endpoint

// A completion counter is a completion queue that keeps two numbers in place of its requests. What waits for
// it is a request, which completes as others do: a caller, a queue or a set then waits for numbers and requests alike.

// counter is what such a queue keeps.
type counter struct {
	successes, failures uint64
	calm                uint64     // while there are fewer successes, one more is nothing that anybody waits for
	waiting             thresholds // requests that complete at their threshold
	ending              bool       // they are being completed
	held                list       // triggered operations, by their thresholds
	heldAt              uint64     // that of the first
}

const (
	noThreshold = ^uint64(0)
	countersEnd = noThreshold - 1 // successes and failures together never pass it
)

// OpenCounter makes a completion counter. CloseQueue gives it back: what it would still have counted goes uncounted, and
// thresholds that were not reached, and operations that were to begin at one, complete with Aborted.
func (e *Engine) OpenCounter() QueueID {
	q := e.OpenQueue()
	e.queues[q].counter = &counter{held: list{none, none}, heldAt: noThreshold}
	return q
}

// Counts returns how many requests a counter has counted, and peers' puts into windows that it counts.
func (e *Engine) Counts(q QueueID) (successes, failures uint64) {
	c := e.queues[q].counter
	return c.successes, c.failures
}

// Threshold makes a request that completes when a counter has counted so many in all, whether with success or not.
func (e *Engine) Threshold(q QueueID, count, match uint64, ctx any) Handle {
	slot, r := e.reqs.alloc()
	r.kind, r.state, r.peer, r.session = kindThreshold, stateCounting, 0, e.peers[0].remote
	r.match, r.msgLen, r.xferLen, r.ctx, r.started = match, 0, 0, ctx, e.begins()
	r.remote, r.window = count, uint64(q)
	c := e.queues[q].counter
	if c.total() >= count {
		e.complete(slot, r, Success)
	} else {
		c.waiting.push(&e.reqs, count, slot)
		c.foresee()
	}
	return handleOf(slot, r.generation)
}

// Count has a counter count n requests, of which at returns the i-th: their handles are stale from then on. Those that are complete are
// counted at once, and one that stands in the list twice is counted once. After an error nothing has changed.
func (e *Engine) Count(q QueueID, n int, at func(i int) Handle) error {
	e.slots = e.slots[:0]
	for i := range n {
		slot, r := e.reqs.user(at(i))
		if r == nil {
			return ErrBadRequest
		}
		e.slots = append(e.slots, slot)
	}
	for _, slot := range e.slots {
		switch r := e.reqs.at(slot); {
		case r.state == stateFree, r.flags&forgotten != 0: // a second time
		case r.state != stateComplete:
			r.countedBy(q)
		default:
			e.doneOf(r).remove(&e.reqs, slot, r)
			e.countRelease(slot, r, e.queues[q].counter)
		}
	}
	if n > 0 {
		e.ended++ // who waits for one of them is to see that it is gone
		e.withdrawn++
	}
	return nil
}

// countedBy leaves a request to a counter, which counts it when it is complete.
func (r *request) countedBy(q QueueID) {
	r.flags |= queued | forgotten
	r.queue = q
}

// countRelease counts a request that is complete, and frees it.
func (e *Engine) countRelease(slot int32, r *request, c *counter) {
	code := r.code
	e.reqs.release(slot, r)
	e.tick(c, code)
}

// CountPuts has a counter count the puts that peers write to a window from now on, and their atomics that change it. False: there is no such window.
func (e *Engine) CountPuts(window uint64, q QueueID) bool {
	w := e.windows.at(window)
	if w == nil || !w.open {
		return false
	}
	w.counter = e.queues[q].counter
	return true
}

// Increment counts so many successes that are no requests, as far as the counter goes.
func (e *Engine) Increment(q QueueID, by uint64) {
	c := e.queues[q].counter
	if by = min(by, countersEnd-c.total()); by > 0 {
		c.successes += by - 1
		e.tick(c, Success)
	}
}

func (c *counter) total() uint64 { return c.successes + c.failures }

// tick counts something that has ended, unless the counter is at its end.
func (e *Engine) tick(c *counter, code Code) {
	if code == Success && c.successes < c.calm {
		c.successes++
	} else {
		e.tickAndTell(c, code)
	}
}

func (e *Engine) tickAndTell(c *counter, code Code) {
	if c.total() == countersEnd {
		return
	}
	if code == Success {
		if c.successes++; c.successes >= c.heldAt {
			e.fire(c)
		}
	} else {
		c.failures++
	}
	if c.total() >= c.waiting.nearest() {
		e.endThresholds(c, Success)
	}
	c.foresee()
}

// foresee finds up to where successes need only be counted.
func (c *counter) foresee() {
	c.calm = min(c.heldAt, max(min(c.waiting.nearest(), countersEnd), c.failures)-c.failures)
	if c.calm > 0 {
		c.calm-- // the success that reaches it
	}
}

// endThresholds completes what waits for a number that has been reached, in the order of the numbers; with another code than Success, for any.
// One that is counted itself may reach the next: that is for the call that completes it.
func (e *Engine) endThresholds(c *counter, code Code) {
	if c.ending {
		return
	}
	c.ending = true
	for c.waiting.some() && (code != Success || c.total() >= c.waiting.nearest()) {
		slot := c.waiting.take(&e.reqs, 0)
		e.complete(slot, e.reqs.at(slot), code)
	}
	c.ending = false
}

// unwait takes a threshold from its counter.
func (e *Engine) unwait(r *request) {
	e.queues[r.window].counter.waiting.take(&e.reqs, r.at)
}

// counts returns the counter that a request is counted by, or nil.
func (e *Engine) counts(r *request) *counter {
	if r.flags&queued == 0 {
		return nil
	}
	return e.queues[r.queue].counter
}
