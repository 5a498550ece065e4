package driver

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"gomx/endpoint"
)

// Errors of queues.
var (
	ErrNotOfQueue  = errors.New("the queue is not over this endpoint")
	ErrNoEndpoints = errors.New("a queue is over at least one endpoint, and each of them once")
	ErrQueueClosed = errors.New("the queue is closed")
	ErrSeveral     = errors.New("the queue is over several endpoints, and only one over a single endpoint can have a handler")
	ErrHandled     = errors.New("the queue has a handler, which alone gets what completes")
)

// Queue is a completion queue over one or several endpoints: requests that are added to it complete into it. Its
// methods may be called from any number of goroutines.
type Queue struct {
	members []member

	mu     sync.Mutex
	closed bool
	next   int      // index of the member to look at first, which changes so that none is starved
	groups []*group // spare groups, with one waiter for each member
}

// member is a queue's part of one endpoint.
type member struct {
	d     *Endpoint
	place int // among the members of its queue
	id    endpoint.QueueID
	// Guarded by the endpoint's lock:
	closed bool            // id was released, and another queue may have it
	st     endpoint.Status // of the completion that is collected
}

// NewQueue makes a queue over endpoints, each named once.
func NewQueue(over ...*Endpoint) (*Queue, error) {
	if len(over) == 0 {
		return nil, ErrNoEndpoints
	}
	q := &Queue{}
	for i, d := range over {
		if slices.Contains(over[:i], d) {
			q.Close()
			return nil, ErrNoEndpoints
		}
		m := member{d: d, place: i}
		if err := d.call(func(e *endpoint.Engine) error { m.id = e.OpenQueue(); return nil }); err != nil {
			q.Close()
			return nil, err
		}
		q.members = append(q.members, m)
	}
	return q, nil
}

// Reserve says that the requests of the queue are not the user's; see the engine.
func (q *Queue) Reserve() error {
	for i := range q.members {
		m := &q.members[i]
		if err := m.d.call(func(e *endpoint.Engine) error { e.Reserve(m.id); return nil }); err != nil {
			return err
		}
	}
	return nil
}

// Add makes n requests complete into the queue, of which at returns the endpoint and the handle of the i-th. Those that are
// complete already move there at once. After an error none was added, unless the queue or an endpoint was closed meanwhile.
func (q *Queue) Add(n int, at func(i int) (*Endpoint, endpoint.Handle)) error {
	if endOfRun(0, n, at) == n { // as nearly always
		return q.addRun(0, n, at, true)
	}
	for _, moves := range [...]bool{false, true} {
		for from, to := 0, 0; from < n; from = to {
			to = endOfRun(from, n, at)
			if err := q.addRun(from, to, at, moves); err != nil {
				return err
			}
		}
	}
	return nil
}

// endOfRun returns where requests of another endpoint begin.
func endOfRun(from, n int, at func(i int) (*Endpoint, endpoint.Handle)) (to int) {
	if from == n {
		return n
	}
	d, _ := at(from)
	for to = from + 1; to < n; to++ {
		if other, _ := at(to); other != d {
			break
		}
	}
	return to
}

// addRun checks requests of one endpoint, and adds them.
func (q *Queue) addRun(from, to int, at func(i int) (*Endpoint, endpoint.Handle), moves bool) error {
	if from == to {
		return q.members[0].usable()
	}
	d, _ := at(from)
	for i := range q.members {
		if m := &q.members[i]; m.d == d {
			return m.add(from, to, at, moves)
		}
	}
	return ErrNotOfQueue
}

// usable returns why the queue takes no requests of the endpoint.
func (m *member) usable() error {
	m.d.lock()
	defer m.d.unlock()
	return m.over()
}

func (m *member) add(from, to int, at func(i int) (*Endpoint, endpoint.Handle), moves bool) error {
	m.d.lock()
	defer m.d.unlock()
	if err := m.over(); err != nil {
		return err
	}
	for i := from; i < to; i++ {
		if _, h := at(i); !m.d.eng.Lives(h) {
			return endpoint.ErrBadRequest
		}
	}
	if !moves {
		return nil
	}
	defer m.d.after() // also where a request that stands in the list twice has been counted already
	for i := from; i < to; i++ {
		_, h := at(i)
		if err := m.d.eng.Enqueue(h, m.id); err != nil {
			return err
		}
	}
	return nil
}

// Taken is called for the i-th completion, with the lock of its endpoint held, so that it may not call the endpoint. That is the one
// in the place over of those that the queue was made for. For a part of a multi-receive, message is the part's data, and h is the
// handle of the multi-receive.
type Taken func(i, over int, h endpoint.Handle, message []byte, st *endpoint.Status)

// RecvMulti posts a receive for many messages. The completions of the messages, and its own, come into the queue; see the engine.
func (q *Queue) RecvMulti(d *Endpoint, buf []byte, least uint32, value, mask uint64, ctx any) (h endpoint.Handle, err error) {
	for i := range q.members {
		m := &q.members[i]
		if m.d != d {
			continue
		}
		err = d.call(func(e *endpoint.Engine) error {
			if err := m.over(); err != nil {
				return err
			}
			h, err = e.RecvMulti(buf, least, value, mask, m.id, ctx)
			return err
		})
		return h, err
	}
	return 0, ErrNotOfQueue
}

// Wait waits until requests of the queue are complete, and collects up to most of them, oldest first for each
// endpoint. If it returns 0 without an error, the timeout has passed or Wakeup was called. The error is ErrQueueClosed if the
// queue is closed, ErrClosed if all its endpoints are, and ErrHandled if the queue has a handler.
func (q *Queue) Wait(ctx context.Context, timeout time.Duration, most int, taken Taken) (n int, err error) {
	if len(q.members) == 1 {
		return q.members[0].wait(ctx, timeout, most, taken)
	}
	if timeout <= 0 {
		return q.poll(most, taken) // a caller that is listed would have the endpoints' own goroutines poll as well
	}
	var deadline time.Time
	if timeout > 0 && timeout != Infinite {
		deadline = time.Now().Add(timeout)
	}
	g := q.enter()
	defer q.exit(g)
	for {
		if n, err = q.poll(most, taken); n > 0 || err != nil {
			return n, err
		}
		if ctx != nil && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if !g.park(ctx, deadline) || g.awoken() {
			n, err = q.poll(most, taken)
			if n == 0 && err == nil && ctx != nil {
				err = ctx.Err()
			}
			return n, err
		}
	}
}

// wait is Wait for a queue over a single endpoint, m.
func (m *member) wait(ctx context.Context, timeout time.Duration, most int, taken Taken) (n int, err error) {
	d := m.d
	d.lock()
	until := never
	if timeout > 0 && timeout != Infinite {
		until = d.clock() + timeout
	}
	for {
		if err = m.over(); err == nil && d.handed(m.id) {
			err = ErrHandled
		}
		if err != nil {
			break
		}
		if n = m.take(0, most, taken); n > 0 {
			break
		}
		ok := false
		if ok, err = d.await(ctx, &want{kind: forQueue, member: m}, timeout, nil); !ok && !m.closed {
			break
		}
		if until != never {
			timeout = max(0, until-d.clock())
		}
	}
	d.unlock()
	return n, err
}

// take collects completions. The lock is held.
func (m *member) take(n, most int, taken Taken) int {
	for n < most {
		h, message, st := m.d.eng.Dequeue(m.id, &m.st)
		if st == nil {
			break
		}
		taken(n, m.place, h, message, st)
		if st.Context != nil {
			st.Context = nil
		}
		n++
	}
	return n
}

// poll makes one pass over all endpoints.
func (q *Queue) poll(most int, taken Taken) (n int, err error) {
	q.mu.Lock()
	first := q.next
	q.next = (q.next + 1) % len(q.members)
	q.mu.Unlock()
	open, ended := 0, false
	for i := range q.members {
		m := &q.members[(first+i)%len(q.members)]
		m.d.lock()
		if m.over() == nil {
			open++
			if m.d.eng.Queued(m.id) == 0 {
				m.d.once()
			}
			if m.over() == nil { // it may have been closed during the pass
				n = m.take(n, most, taken)
			}
		}
		ended = ended || m.closed
		m.d.unlock()
	}
	switch {
	case n > 0:
		return n, nil
	case ended: // even if Close has not reached all members yet
		return 0, ErrQueueClosed
	case open == 0:
		return 0, ErrClosed
	}
	return 0, nil
}

// over returns why nothing completes here any more, or nil. The lock is held.
func (m *member) over() error {
	switch {
	case m.closed:
		return ErrQueueClosed
	case m.d.closed:
		return ErrClosed
	}
	return nil
}

// Close closes the queue. Its requests, complete or not, belong to their endpoints again, and callers of Wait return with
// ErrQueueClosed. A handler that runs at that moment continues to its end, and no other call of it begins. A second Close does
// nothing.
func (q *Queue) Close() {
	q.mu.Lock()
	was := q.closed
	q.closed = true
	q.mu.Unlock()
	if was {
		return
	}
	for i := range q.members {
		m := &q.members[i]
		m.d.lockForeign()
		open := m.over() == nil
		if m.closed = true; open {
			m.d.handlers = slices.DeleteFunc(m.d.handlers, func(h handled) bool { return h.m == m })
			m.d.eng.CloseQueue(m.id)
			m.d.after() // those who wait for it
		}
		m.d.unlock()
	}
}

// group is a caller that waits on several endpoints: a waiter in each, which share a signal. It is kept for the next caller.
type group struct {
	q       *Queue
	waiters []*waiter
	timer   *time.Timer // nil until somebody waits with a timeout
}

// enter makes completions from now on wake the caller.
func (q *Queue) enter() *group {
	g := q.group()
	for i := range q.members {
		m, w := &q.members[i], g.waiters[i]
		m.d.lock()
		w.want, w.until = want{kind: forQueue, member: m}, never
		w.wakeups = m.d.wakeups
		if m.over() == nil {
			m.d.list(w)
			w.ok = false // poll takes what is complete already
		}
		m.d.pollers()
		m.d.unlock()
	}
	return g
}

// group returns a caller with waiters for all members.
func (q *Queue) group() *group {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := len(q.groups); n > 0 {
		g := q.groups[n-1]
		q.groups = q.groups[:n-1]
		return g
	}
	signal := make(chan struct{}, 1)
	g := &group{q: q, waiters: make([]*waiter, len(q.members))}
	for i := range g.waiters {
		g.waiters[i] = &waiter{passive: true, signal: signal}
	}
	return g
}

func (q *Queue) exit(g *group) {
	signal := g.waiters[0].signal
	for i, w := range g.waiters {
		d := q.members[i].d
		d.lock()
		d.unlist(w)
		d.unlock()
		*w = waiter{passive: true, signal: signal}
	}
	select {
	case <-signal:
	default:
	}
	q.mu.Lock()
	q.groups = append(q.groups, g)
	q.mu.Unlock()
}

// park waits to be woken, and returns false if the deadline has passed.
func (g *group) park(ctx context.Context, deadline time.Time) bool {
	var done <-chan struct{}
	if ctx != nil {
		done = ctx.Done()
	}
	var late <-chan time.Time
	if !deadline.IsZero() {
		if g.timer == nil {
			g.timer = time.NewTimer(time.Until(deadline))
		} else {
			g.timer.Reset(time.Until(deadline))
		}
		defer g.timer.Stop()
		late = g.timer.C
	}
	woken := true
	select {
	case <-g.waiters[0].signal:
	case <-late:
		woken = false
	case <-done:
		woken = false
	}
	for i, w := range g.waiters { // poll takes what they have found
		d := g.q.members[i].d
		d.lock()
		w.ok = false
		d.pollers()
		d.unlock()
	}
	return woken
}

// awoken reports whether Wakeup was called on one of the endpoints.
func (g *group) awoken() bool {
	for i, w := range g.waiters {
		d := g.q.members[i].d
		d.lock()
		woken := d.wakeups != w.wakeups && !d.closed
		d.unlock()
		if woken {
			return true
		}
	}
	return false
}
