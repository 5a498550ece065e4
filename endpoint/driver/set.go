package driver

import (
	"context"
	"slices"
	"time"

	"gomx/endpoint"
)

// Aim is what a caller wants of a set of requests.
type Aim uint8

// The aims.
const (
	First Aim = iota // returns the place of a complete request, and collects nothing
	All              // collects all requests, in their order
	Some             // collects the requests that are complete, at least one
)

// set is the requests that one call waits for.
type set struct {
	aim     Aim
	handles []endpoint.Handle
	states  []endpoint.Status // statuses of the collected requests, in the order of taken; at most most
	taken   []int32           // places of the collected requests
	next    int               // All: the first that was not collected
	most    int               // how many may be collected
	ended   uint64            // the engine's count of ended requests at the last look
	looked  bool

	withdrawn uint64 // All: the engine's count of withdrawn requests at the last look behind next
	whole     bool   // All: the next look includes the requests behind next

	first int // First: the place of the complete request or, after an error, of the bad one
}

// keptSet is the largest set, in handles, whose memory is kept for the next one.
const keptSet = 1 << 16

// look examines the set, if a request has ended since the last time, and collects what its aim says.
func (s *set) look(e *endpoint.Engine) (ok bool, err error) {
	ended := e.Ended()
	if s.looked && ended == s.ended {
		return false, nil
	}
	s.looked, s.ended = true, ended
	switch s.aim {
	case First:
		s.first, ok, err = e.First(s.handles)
		return ok, err
	case All:
		return s.collectAll(e)
	}
	return s.collectSome(e)
}

// collectAll collects the requests in their order, up to the first that is not complete. The requests behind that one are looked
// at when the wait proves long and when a request was withdrawn, so that a stale handle among them is found before the
// requests in front of it have completed.
func (s *set) collectAll(e *endpoint.Engine) (bool, error) {
	for ; s.next < len(s.handles); s.next++ {
		if s.handles[s.next] == 0 {
			continue
		}
		if ok, err := s.collect(e, s.next); !ok {
			if w := e.Withdrawn(); err == nil && (s.whole || s.withdrawn != w) {
				s.whole, s.withdrawn = false, w
				err = s.stale(e, s.next)
			}
			return false, err
		}
	}
	return true, nil
}

// stale returns an error if a request from an offset on is stale.
func (s *set) stale(e *endpoint.Engine, from int) error {
	if at, is := e.Stale(s.handles[from:]); is {
		s.first = from + at
		return endpoint.ErrBadRequest
	}
	return nil
}

// doubt makes the next look include all requests.
func (s *set) doubt() { s.looked, s.whole = false, true }

func (s *set) collectSome(e *endpoint.Engine) (bool, error) {
	for i := 0; i < len(s.handles) && len(s.taken) < s.most; i++ {
		if s.handles[i] == 0 {
			continue
		}
		if _, err := s.collect(e, i); err != nil {
			return false, err
		}
	}
	return len(s.taken) > 0, nil
}

// collect collects the request in one place, if it is complete.
func (s *set) collect(e *endpoint.Engine, i int) (bool, error) {
	n := len(s.taken)
	ok, err := e.Test(s.handles[i], &s.states[n])
	if ok {
		s.handles[i] = 0
		s.taken = append(s.taken, int32(i))
	}
	if err != nil {
		s.first = i
	}
	return ok, err
}

// complete reports whether all requests are complete, and the place of one that is stale.
func (s *set) complete(e *endpoint.Engine) (bool, error) {
	for i, h := range s.handles {
		if h != 0 && !e.Done(h) {
			return false, s.stale(e, i)
		}
	}
	return true, nil
}

// some returns one of the requests that were not collected, or 0.
func (s *set) some() endpoint.Handle {
	for _, h := range s.handles[s.next:] {
		if h != 0 {
			return h
		}
	}
	return 0
}

// Batch describes what a call does with several requests while it holds the lock once.
type Batch struct {
	Aim   Aim
	Len   int
	List  func(handles []endpoint.Handle)                // writes the handle of each place; zero handles are skipped
	Most  int                                            // Some: how many may be collected; 0: all
	Taken func(places []int32, states []endpoint.Status) // called with the collected requests, if any; the lock is held
}

// WaitSet waits for several requests. With First it returns the place of a complete request, and with an error about a
// request the place of that request. If done is false and there is no error, the timeout has passed or Wakeup was called;
// with All some requests may have been collected by then.
func (d *Endpoint) WaitSet(ctx context.Context, b *Batch, timeout time.Duration) (place int, done bool, err error) {
	d.lock()
	if d.closed {
		d.unlock()
		return -1, false, ErrClosed
	}
	s := d.takeSet(b)
	s.whole, s.withdrawn = timeout <= 0, d.eng.Withdrawn()
	q := want{kind: forSet, set: s}
	done, err = q.take(d, nil)
	if !done && err == nil {
		done, err = d.await(ctx, &q, timeout, nil)
	}
	place = d.giveSet(s, b)
	d.unlock()
	return place, done, err
}

// TestSet makes one pass, and collects all requests if all are complete.
func (d *Endpoint) TestSet(b *Batch) (place int, done bool, err error) {
	d.lock()
	if d.closed {
		d.unlock()
		return -1, false, ErrClosed
	}
	s := d.takeSet(b)
	if done, err = s.complete(d.eng); !done && err == nil {
		d.eng.Turn(s.some())
		d.once()
		done, err = s.complete(d.eng)
	}
	if done {
		done, err = s.collectAll(d.eng)
	}
	place = d.giveSet(s, b)
	d.unlock()
	return place, done, err
}

// takeSet makes a set. The lock is held.
func (d *Endpoint) takeSet(b *Batch) *set {
	var s *set
	if last := len(d.sets) - 1; last >= 0 {
		s = d.sets[last]
		d.sets = d.sets[:last]
	} else {
		s = new(set)
	}
	*s = set{aim: b.Aim, most: b.Most, first: -1, handles: s.handles, states: s.states, taken: s.taken[:0]}
	if s.most == 0 {
		s.most = b.Len
	}
	s.handles = slices.Grow(s.handles[:0], b.Len)[:b.Len]
	b.List(s.handles)
	if s.aim != First && len(s.states) < s.most {
		s.states = make([]endpoint.Status, s.most)
	}
	return s
}

// giveSet reports what was collected, and keeps the memory of the set.
func (d *Endpoint) giveSet(s *set, b *Batch) (place int) {
	if n := len(s.taken); n > 0 {
		b.Taken(s.taken, s.states[:n])
		for i := range s.states[:n] {
			if st := &s.states[i]; st.Context != nil {
				st.Context = nil // it would keep memory alive
			}
		}
	}
	if cap(s.handles) <= keptSet {
		d.sets = append(d.sets, s)
	}
	return s.first
}
