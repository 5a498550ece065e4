package mpi

import (
	"context"
	"slices"
	"time"

	"gomx/mx"
)

// Completion is one of several requests that has ended.
type Completion struct {
	Index  int // its place among the requests
	Status Status
}

// WaitAll waits for all requests, and empties them (MPI_Waitall). sts is nil or has an element for the status of each.
// The error is the first one in the order of the requests, after all have completed. If a context ends the wait, it is
// as with Request.Wait, and the requests that are not complete stay. Requests of communicators that differ are waited for one after the
// other, each until the context of its own communicator ends. Its own error: ErrArg if sts has another length.
func WaitAll(reqs []Request, sts []Status) error {
	if err := checkStatuses("WaitAll", reqs, sts); err != nil {
		return err
	}
	if sts == nil && areOver(reqs) {
		clear(reqs)
		return nil
	}
	m := gather(reqs)
	if m.plain {
		_, _ = m.c.seat.ep.WaitAll(m.c.ctx, m.reqs, m.states, mx.Infinite) // waiting for what it leaves says what is wrong
	}
	err := m.settle(reqs, sts)
	m.release()
	return err
}

// areOver reports whether there is nothing to wait for, as after sends that were complete at once.
func areOver(reqs []Request) bool {
	for i := range reqs {
		if reqs[i].kind > nullRequest {
			return false
		}
	}
	return true
}

func checkStatuses(op string, reqs []Request, sts []Status) error {
	if sts != nil && len(sts) != len(reqs) {
		return failOp(op, ErrArg, "%d requests, but memory for %d statuses", len(reqs), len(sts))
	}
	return nil
}

// TestAll is WaitAll if all requests are complete, and otherwise leaves them as they are and returns false
// (MPI_Testall).
func TestAll(reqs []Request, sts []Status) (bool, error) {
	if err := checkStatuses("TestAll", reqs, sts); err != nil {
		return false, err
	}
	m := gather(reqs)
	defer m.release()
	if m.plain {
		done, err := m.c.seat.ep.TestAll(m.reqs, m.states)
		if !done && err == nil && m.c.seat.job.failures.count.Load() == 0 {
			m.c.seat.giveWay()
			return false, nil
		}
	}
	for i := range reqs {
		if !m.reqs[i].IsZero() && !reqs[i].complete() {
			m.c.seat.giveWay()
			return false, nil
		}
	}
	return true, m.settle(reqs, sts)
}

// complete reports whether waiting would not block. Errors count: Wait returns them.
func (q *Request) complete() bool {
	one := [1]mx.Request{q.mx()}
	_, done, err := q.c.seat.ep.WaitFirst(noContext, one[:], 0)
	return done || err != nil || fromAnybody(*q) && q.c.firstFailure() != nil && !q.matched()
}

// matched reports whether a receive that is not complete has a message.
func (q *Request) matched() bool {
	r := q.mx()
	return slices.ContainsFunc(q.c.seat.ep.Pending(), func(p mx.PendingRequest) bool { return p.Request == r && !p.Peer.IsZero() })
}

// noContext is for calls that nothing ends but what they wait for.
var noContext context.Context

// WaitAny waits for one of the requests, empties it, and returns its index (MPI_Waitany). If all requests are empty,
// the index is Undefined. The context of the first request that is not empty ends the wait: the index is Undefined
// then, and all requests stay, but a collective that this context has ended counts as complete. The error is that of
// the operation, or of the wait.
func WaitAny(reqs []Request) (int, Status, error) {
	i, st, _, err := anyOf("WaitAny", reqs, mx.Infinite)
	return i, st, err
}

// TestAny is WaitAny if one of the requests is complete, or if all are empty, and otherwise returns
// false (MPI_Testany).
func TestAny(reqs []Request) (int, Status, bool, error) { return anyOf("TestAny", reqs, 0) }

func anyOf(op string, reqs []Request, timeout time.Duration) (int, Status, bool, error) {
	var space [1]Completion
	done, some, err := waitSome(op, reqs, space[:0], 1, timeout)
	if len(done) == 0 {
		return Undefined, emptyStatus, !some && err == nil, err
	}
	return done[0].Index, done[0].Status, true, err
}

// WaitSome waits until one of the requests is complete, empties all that are, and appends them to done (MPI_Waitsome).
// If all requests are empty it appends nothing. The error is the first one of the completed requests.
func WaitSome(reqs []Request, done []Completion) ([]Completion, error) {
	done, _, err := waitSome("WaitSome", reqs, done, len(reqs), mx.Infinite)
	return done, err
}

// TestSome is WaitSome without waiting (MPI_Testsome).
func TestSome(reqs []Request, done []Completion) ([]Completion, error) {
	done, _, err := waitSome("TestSome", reqs, done, len(reqs), 0)
	return done, err
}

// waitSome waits until one of the requests is complete, and empties up to most that are. some reports
// whether any was not empty. The requests are those of one rank.
func waitSome(op string, reqs []Request, done []Completion, most int, timeout time.Duration) (_ []Completion, some bool, err error) {
	m := gather(reqs)
	defer m.release()
	before := len(done)
	if m.over >= 0 {
		some, timeout = true, 0
		for i := m.over; i < len(reqs) && len(done)-before < most; i++ {
			if q := &reqs[i]; q.kind != noRequest && q.kind <= nullRequest {
				done = append(done, Completion{i, *endings[q.kind]})
				*q = Request{}
			}
		}
	}
	if m.c == nil || len(done)-before == most {
		return done, some, nil
	}
	for limit := before + most; ; {
		n, odd, err := m.some(op, reqs, limit-len(done), timeout)
		done, err = m.collect(reqs, done, n, err)
		if odd {
			done, err = testEach(reqs, done, limit)
		}
		// Otherwise somebody has died, but each receive from anybody has a message by now, on which it depends alone.
		if !odd || err != nil || len(done) > before || timeout == 0 {
			return done, true, err
		}
	}
}

// collect empties the requests of which some has collected n, and appends them to done. The error is err, or else the first of theirs.
func (m *many) collect(reqs []Request, done []Completion, n int, err error) ([]Completion, error) {
	for i := range m.ended[:n] {
		e := &m.ended[i]
		q := &reqs[e.Index]
		done = append(done, Completion{Index: e.Index})
		failed := q.conclude(q.op(), &e.Status, &done[len(done)-1].Status)
		if *q = (Request{}); err == nil {
			err = failed
		}
	}
	return done, err
}

// testEach tests the requests until done is as long as limit, and appends those that are complete. The error is the first of theirs.
func testEach(reqs []Request, done []Completion, limit int) (_ []Completion, first error) {
	for i := 0; i < len(reqs) && len(done) < limit; i++ {
		if reqs[i].kind == noRequest {
			continue
		}
		st, ended, err := reqs[i].Test()
		if ended {
			done = append(done, Completion{i, st})
		}
		if first == nil {
			first = err
		}
	}
	return done, first
}
