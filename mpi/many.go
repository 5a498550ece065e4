package mpi

import (
	"errors"
	"slices"
	"sync"
	"time"

	"gomx/mx"
)

// many is the state of a call that waits for several requests: their requests of mx, and how they have ended.
type many struct {
	c     *Comm // of the first request that has to be waited for; nil: there is none
	plain bool  // the same endpoint and context are for all of those
	over  int   // the first that is complete already, and not empty; -1: none

	reqs   []mx.Request // at the indices of the requests; zero for those that need no waiting, or have been collected
	states []mx.Status
	ended  []mx.Completion
	long   *longWait // the entry of the call for hang reports, when it has blocked for a while
}

// keptMany is the number of requests up to which the memory is kept.
const keptMany = 1 << 12

var manies = sync.Pool{New: func() any { return new(many) }}

// gather makes a many of requests that are to be waited for. release must follow.
func gather(reqs []Request) *many {
	m := manies.Get().(*many)
	n := len(reqs)
	m.reqs = slices.Grow(m.reqs[:0], n)[:n]
	m.states = slices.Grow(m.states[:0], n)[:n]
	m.c, m.plain, m.over = nil, false, -1
	for i := range reqs {
		q := &reqs[i]
		switch {
		case q.kind > nullRequest:
			m.reqs[i] = q.mx()
			if q.c != m.c {
				if m.c == nil {
					m.c, m.plain = q.c, true
				}
				m.plain = m.plain && (q.c == m.c || q.c.seat == m.c.seat && q.c.ctx == nil && m.c.ctx == nil)
			}
			continue
		case q.kind != noRequest && m.over < 0:
			m.over = i
		}
		m.reqs[i] = mx.Request{}
	}
	return m
}

// release gives the memory back.
func (m *many) release() {
	if m.long != nil {
		m.c.seat.waits.leave(m.long)
		m.long = nil
	}
	for i := range m.ended {
		m.ended[i].Status.Context = nil // it would keep memory alive
	}
	if m.c, m.ended = nil, m.ended[:0]; len(m.reqs) <= keptMany {
		manies.Put(m)
	}
}

// settleFine empties the requests up to the first one that is not complete or has failed, and returns its index. It is for
// callers that want no statuses.
func (m *many) settleFine(reqs []Request) int {
	left, states := m.reqs[:len(reqs)], m.states[:len(reqs)]
	for i := range reqs {
		q := &reqs[i]
		if q.kind > nullRequest && (!left[i].IsZero() || !q.fine(&states[i])) {
			return i
		}
		*q = Request{}
	}
	return len(reqs)
}

// settle empties the requests, of which some have been collected, and waits for the others.
func (m *many) settle(reqs []Request, sts []Status) (first error) {
	from := 0
	if sts == nil {
		from = m.settleFine(reqs)
	}
	var unwanted Status
	for i := from; i < len(reqs); i++ {
		q, st := &reqs[i], &unwanted
		if sts != nil {
			st = &sts[i]
		}
		var err error
		switch got := &m.states[i]; {
		case q.kind <= nullRequest:
			*st = *endings[q.kind]
		case m.reqs[i].IsZero() && sts == nil && q.fine(got):
		case m.reqs[i].IsZero():
			err = q.conclude(q.op(), got, st)
			if got.Context != nil {
				got.Context = nil // it would keep memory alive
			}
		default:
			done := false
			if done, err = q.waitLong(q.heeds(), q.op(), true, true, st); !done {
				if first == nil {
					first = err
				}
				continue
			}
		}
		if *q = (Request{}); first == nil {
			first = err
		}
	}
	return first
}

// some waits, up to a timeout, until one of the requests is complete, and collects up to most that are. odd reports
// that it has collected nothing, and that the caller has to test each request.
func (m *many) some(op string, reqs []Request, most int, timeout time.Duration) (n int, odd bool, err error) {
	m.ended = slices.Grow(m.ended[:0], most)[:most]
	ep, ctx, turn := m.c.seat.ep, m.c.ctx, timeout
	if turn != 0 && slices.ContainsFunc(reqs, fromAnybody) {
		turn = slice
	}
	for {
		n, err = ep.WaitSome(ctx, m.reqs, m.ended, turn)
		switch {
		case n > 0:
			return n, false, nil
		case errors.Is(err, mx.ErrBadRequest), err != nil && slices.ContainsFunc(reqs, takenBack):
			return 0, true, nil
		case err != nil && ctx != nil && ctx.Err() != nil && slices.ContainsFunc(reqs, endsSoon):
			ctx = nil
			continue
		case err != nil:
			return 0, false, m.c.broken(op, Undefined, Undefined, remarked(expired(ctx, err), true, allStayRemark))
		}
		if slices.ContainsFunc(reqs, func(q Request) bool { return fromAnybody(q) && q.c.firstFailure() != nil }) {
			return 0, true, nil
		}
		if timeout == 0 {
			m.c.seat.giveWay()
			return 0, false, nil
		}
		if m.long == nil {
			m.long = m.c.seat.waits.enter(ctx, m.c, op, m.reqs, true)
		}
	}
}

// endsSoon reports whether a request is that of a collective whose context has ended it.
func endsSoon(q Request) bool {
	return q.kind == collectiveRequest && q.c.ctx != nil && q.c.ctx.Err() != nil
}

// takenBack reports whether a request is a receive that was cancelled.
func takenBack(q Request) bool { return q.receives() && q.c.seat.cancelled.has(q.number) }

func fromAnybody(q Request) bool { return q.receives() && q.peer == AnySource }
