package endpoint

import "gomx/match"

// Completed returns how many requests are complete and not collected, in the engine's own queue.
func (e *Engine) Completed() int { return e.done.count }

// Ended returns how many requests have ended so far, those that were cancelled
// included: while it stays the same, First has nothing new to say.
func (e *Engine) Ended() uint64 { return e.ended }

// Withdrawn returns how many of them were cancelled or forgotten.
func (e *Engine) Withdrawn() uint64 { return e.withdrawn }

// Stale returns the place of the first request of a set that is stale. Zero handles are passed over.
func (e *Engine) Stale(set []Handle) (int, bool) {
	for i, h := range set {
		if h != 0 {
			if _, r := e.reqs.user(h); r == nil {
				return i, true
			}
		}
	}
	return -1, false
}

// First returns the place of the first request of a set that is complete, and false
// if there is none. Zero handles are passed over. A stale one is an error, and its place
// is returned.
func (e *Engine) First(set []Handle) (int, bool, error) {
	for i, h := range set {
		if h == 0 {
			continue
		}
		_, r := e.reqs.user(h)
		if r == nil {
			return i, false, ErrBadRequest
		}
		if r.state == stateComplete {
			return i, true, nil
		}
	}
	return -1, false, nil
}

// Peek returns the oldest completed request, which stays as it is (VI.3).
func (e *Engine) Peek() (Handle, bool) {
	if e.done.head == none {
		return 0, false
	}
	r := e.reqs.at(e.done.head)
	return handleOf(e.done.head, r.generation), true
}

// PeekFresh returns the oldest completed request that it has not returned before:
// of several blocked peeks, each is to be woken by a request of its own (X.2).
func (e *Engine) PeekFresh() (Handle, bool) {
	slot := e.done.fresh
	if slot == none {
		return 0, false
	}
	r := e.reqs.at(slot)
	e.done.fresh = r.next
	return handleOf(slot, r.generation), true
}

// TestAny collects the oldest completed request whose match information fits
// (VI.5.1). A receive counts with that of the message it got.
func (e *Engine) TestAny(value, mask uint64, st *Status) (bool, error) {
	if !match.Valid(value, mask) {
		return false, ErrBadMask
	}
	for slot := e.done.head; slot != none; {
		r := e.reqs.at(slot)
		if match.Matches(r.match, value, mask) {
			e.collect(slot, r, st)
			return true, nil
		}
		slot = r.next
	}
	return false, nil
}

// Probe looks for the oldest unexpected message that matches, and leaves it
// where it is (VII.1.1).
func (e *Engine) Probe(value, mask uint64, st *Status) (bool, error) {
	if !match.Valid(value, mask) {
		return false, ErrBadMask
	}
	id, ok := e.unexp.Find(value, mask)
	if !ok {
		return false, nil
	}
	e.probeStatus(id, st)
	return true, nil
}

func (e *Engine) probeStatus(id int32, st *Status) {
	m := e.unexp.At(id)
	*st = Status{
		Code: Success, Source: Addr{e.shown(m.Peer), uint32(m.Aux)}, Match: m.Match,
		MsgLength: m.Length, XferLength: m.Length,
	}
}

// arrival names a message of the unexpected store; the number tells it from a
// later one under the same id.
type arrival struct {
	id     int32
	number uint32
}

// Trace makes TakeArrivals report the messages that are stored from now on.
func (e *Engine) Trace(on bool) {
	e.trace = on
	e.arrivals = e.arrivals[:0]
}

// TakeArrivals calls f for each message stored since the last call that is
// still there, oldest first.
func (e *Engine) TakeArrivals(f func(st *Status)) {
	for _, a := range e.arrivals {
		if e.unexp.Has(a.id) && e.unexp.At(a.id).Seq == a.number {
			e.probeStatus(a.id, &e.probed)
			f(&e.probed)
		}
	}
	e.arrivals = e.arrivals[:0]
}
