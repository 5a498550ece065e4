package endpoint

// QueueID names a completion queue of an engine. Requests that were given none complete into the
// engine's own, which Peek and TestAny look at.
type QueueID int32

// Private is the queue of requests that nobody but who has their handle collects: nobody takes from it.
const Private QueueID = 0

// doneList holds completed requests that nobody has collected, oldest first.
type doneList struct {
	list
	fresh int32 // the oldest that PeekFresh has not returned, or none
	count int
	free  bool // no queue of the user's
	ours  bool // of requests that the user has not made

	announced announcements // in a queue of the user's, among the requests
	counter   *counter      // or nil: the queue keeps its requests
}

func (d *doneList) reset() { *d = doneList{list: list{none, none}, fresh: none} }

func (d *doneList) add(s *slab, slot int32, r *request) {
	s.push(&d.list, slot, r)
	d.count++
	if d.fresh == none {
		d.fresh = slot
	}
}

func (d *doneList) remove(s *slab, slot int32, r *request) {
	d.leave(slot, r)
	s.remove(&d.list, r)
}

// leave notes that a request is about to be taken out of the list.
func (d *doneList) leave(slot int32, r *request) {
	if d.fresh == slot {
		d.fresh = r.next
	}
	d.count--
}

// doneOf returns the queue that a request completes into.
func (e *Engine) doneOf(r *request) *doneList {
	if r.flags&queued != 0 {
		return &e.queues[r.queue]
	}
	return &e.done
}

// OpenQueue makes a completion queue.
func (e *Engine) OpenQueue() QueueID {
	for i := range e.queues {
		if e.queues[i].free {
			e.queues[i].reset()
			return QueueID(i)
		}
	}
	e.queues = append(e.queues, doneList{})
	e.queues[len(e.queues)-1].reset()
	return QueueID(len(e.queues) - 1)
}

// CloseQueue gives a queue back. Its requests belong to the engine's own queue from now on: those that are complete stand in their order
// behind what is complete there. Messages of
// multi-receives that nobody has collected are dropped: they have no handle that anybody knows.
func (e *Engine) CloseQueue(q QueueID) {
	if c := e.queues[q].counter; c != nil {
		e.endThresholds(c, Aborted)
		e.endHeld(c, Aborted)
		e.windows.uncount(c)
	}
	e.eachRequest(func(slot int32, r *request) {
		if r.flags&queued == 0 || r.queue != q {
			return
		}
		if e.closeMulti(slot, r); r.state != stateComplete {
			r.flags &^= queued
		}
	})
	d := &e.queues[q]
	for slot := d.head; slot != none; slot = d.head {
		r := e.reqs.at(slot)
		d.remove(&e.reqs, slot, r)
		r.flags &^= queued
		e.done.add(&e.reqs, slot, r)
	}
	d.announced = announcements{}
	d.free = true
}

// Enqueue has a request complete into a queue. One that is complete moves there.
func (e *Engine) Enqueue(h Handle, q QueueID) error {
	slot, r := e.reqs.user(h)
	if r == nil {
		return ErrBadRequest
	}
	if r.state != stateComplete {
		r.flags, r.queue = r.flags|queued, q
		return nil
	}
	e.doneOf(r).remove(&e.reqs, slot, r)
	r.flags, r.queue = r.flags|queued, q
	e.queues[q].enter(&e.reqs, slot, r)
	e.ended++ // who waits for the queue is to see it
	return nil
}

// Reserve says that the requests of a queue are not the user's: Outstanding returns no handles of them, which are not the user's to cancel.
func (e *Engine) Reserve(q QueueID) { e.queues[q].ours = true }

// Queued returns how many requests of a queue are complete, and messages of multi-receives announced.
func (e *Engine) Queued(q QueueID) int { return e.queues[q].count + e.queues[q].announced.len() }

// Dequeue collects the oldest completed request of a queue. The handle that it returns is stale. Of a message of a
// multi-receive it returns that one's handle, and the message, which is not nil. The status, nil if there is nothing to collect, is
// room or one that is valid until the engine is called again; the caller clears its context, which would keep memory alive.
func (e *Engine) Dequeue(q QueueID, room *Status) (h Handle, message []byte, st *Status) {
	d := &e.queues[q]
	slot := d.head
	if d.announced.some() && (slot == none || uint64(d.announced.first) != e.reqs.at(slot).token) {
		a := d.announced.take()
		message, a.message = a.message, nil
		return a.multi, message, &a.status
	}
	if slot == none {
		return 0, nil, nil
	}
	r := e.reqs.at(slot)
	h = handleOf(slot, r.generation)
	e.collect(slot, r, room)
	return h, nil, room
}
