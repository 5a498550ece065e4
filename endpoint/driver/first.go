package driver

import (
	"context"
	"time"

	"gomx/endpoint"
)

// set is what a caller waits for who wants to know the first of several requests to
// complete.
type set struct {
	handles []endpoint.Handle
	ended   uint64 // of the engine, when the handles were looked at last
	looked  bool
	first   int
}

// keptSet is the largest set, in handles, whose memory is kept for the next one.
const keptSet = 1 << 16

// look looks through the set, if a request has ended since the last time.
func (s *set) look(e *endpoint.Engine) (ok bool, err error) {
	ended := e.Ended()
	if s.looked && ended == s.ended {
		return false, nil
	}
	s.looked, s.ended = true, ended
	s.first, ok, err = e.First(s.handles)
	return ok, err
}

// WaitFirst waits until one of n requests is complete, and returns its place. It collects
// nothing. Zero handles are passed over; a stale one is an error, and its place is returned.
func (d *Endpoint) WaitFirst(ctx context.Context, n int, handle func(int) endpoint.Handle, timeout time.Duration) (int, bool, error) {
	d.lock()
	if d.closed {
		d.unlock()
		return -1, false, ErrClosed
	}
	s := d.takeSet(n, handle)
	q := want{kind: forFirst, set: s}
	ok, err := q.take(d, nil)
	if !ok && err == nil {
		w := d.parked.get(q)
		ok, err = d.block(ctx, w, timeout)
		d.parked.put(w)
	}
	first := s.first
	if cap(s.handles) <= keptSet {
		d.sets = append(d.sets, s)
	}
	d.unlock()
	return first, ok, err
}

// takeSet makes a set. The lock is held.
func (d *Endpoint) takeSet(n int, handle func(int) endpoint.Handle) *set {
	var s *set
	if last := len(d.sets) - 1; last >= 0 {
		s = d.sets[last]
		d.sets = d.sets[:last]
	} else {
		s = new(set)
	}
	s.handles, s.looked, s.first = s.handles[:0], false, -1
	for i := range n {
		s.handles = append(s.handles, handle(i))
	}
	return s
}
