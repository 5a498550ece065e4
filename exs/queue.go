package exs

import (
	"sync"
	"sync/atomic"
	"time"
)

// Queue is an event queue (2.1). Calls on a nil or zero Queue return EINVAL.
type Queue struct {
	l     *Library
	list  waitList
	count atomic.Int32 // events
	// busy is how many operations that name the queue are outstanding; far below 0
	// when it was deleted.
	busy atomic.Int64

	used atomic.Bool
	mode atomic.Int32 // WaitMode

	mu     sync.Mutex
	ring   []Event
	head   int
	signal chan<- struct{}
	least  int // how many events cause a signal
}

const deleted = -1 << 40

// WaitMode says how Dequeue waits (11.2.7).
type WaitMode int

// The ways to wait.
const (
	WaitAdaptive WaitMode = iota // spin for a while, then sleep
	WaitBusyPoll                 // spin
	WaitNotify                   // sleep
)

// Attr is an attribute of a queue.
type Attr int

// The attributes, with the type of their value.
const (
	QAttrSignal Attr = iota // chan<- struct{}: a channel to send to, if it has room, when there are QAttrEvents events
	QAttrEvents             // int, from 1 on
	QAttrWait               // WaitMode; only before the first operation that names the queue, and the first Dequeue
)

// NewQueue creates an event queue of the default library (2.1.1). It holds depth
// events without growing. Error: EINVAL for a depth below 1.
func NewQueue(depth int) (*Queue, error) {
	l, err := defaultLibrary("create queue")
	if err != nil {
		return nil, err
	}
	return l.Queue(depth)
}

// Queue is the function NewQueue in this library.
func (l *Library) Queue(depth int) (*Queue, error) {
	if l.none() {
		return nil, absent("create queue", EINVAL, noLibrary)
	}
	if depth < 1 || depth > MaxCredits {
		return nil, wrong("create queue", "the depth is %d: it is from 1 to %d", depth, MaxCredits)
	}
	if _, err := l.Endpoint(); err != nil {
		return nil, err
	}
	return &Queue{l: l, ring: make([]Event, depth), least: 1}, nil
}

// Delete deletes a queue (2.1.2). Events that were not taken are lost. Errors:
// EBUSY with operations outstanding, EINVAL the second time.
func (q *Queue) Delete() error {
	if q.none() {
		return absent("delete queue", EINVAL, noQueue)
	}
	if !q.busy.CompareAndSwap(0, deleted) {
		if q.gone() {
			return wrong("delete queue", queueDeleted)
		}
		return because("delete queue", EBUSY, queueInUse)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ring, q.head, q.signal = nil, 0, nil
	q.count.Store(0)
	q.list.wake()
	return nil
}

func (q *Queue) gone() bool { return q.busy.Load() < 0 }

// use notes that the queue is in use. From then on its WaitMode can't be changed.
func (q *Queue) use() {
	if !q.used.Load() {
		q.used.Store(true)
	}
}

// begin counts an operation, and returns false if the queue was deleted.
func (q *Queue) begin() bool {
	q.use()
	if q.busy.Add(1) > 0 {
		return true
	}
	q.busy.Add(-1)
	return false
}

func (q *Queue) end() { q.busy.Add(-1) }

// Dequeue takes events, and waits until there is one or the timeout has passed
// (2.1.3): Infinite waits for ever, 0 polls. It returns how many it has taken,
// which is 0 after the timeout. Errors: EINVAL if events is empty or the queue was deleted, ENETDOWN if the library was closed
// and no events are left.
func (q *Queue) Dequeue(events []Event, timeout time.Duration) (int, error) {
	if q.none() {
		return 0, absent("dequeue", EINVAL, noQueue)
	}
	switch {
	case q.gone():
		return 0, wrong("dequeue", queueDeleted)
	case len(events) == 0:
		return 0, wrong("dequeue", "there is no room for an event")
	}
	if n := q.take(events, 1); n > 0 {
		return n, nil
	}
	return q.dequeue(events, 1, timeout)
}

// DequeueAtLeast is like Dequeue, and waits for least events. After the timeout it returns the events that there are.
func (q *Queue) DequeueAtLeast(events []Event, least int, timeout time.Duration) (int, error) {
	if q.none() {
		return 0, absent("dequeue", EINVAL, noQueue)
	}
	switch {
	case q.gone():
		return 0, wrong("dequeue", queueDeleted)
	case least < 1 || least > len(events):
		return 0, wrong("dequeue", "least is %d: it is from 1 to the room for events, which is %d", least, len(events))
	}
	return q.dequeue(events, least, timeout)
}

// several is a wait for more than one event.
type several struct {
	q     *Queue
	least int32
}

func (s *several) ready() bool { return s.q.count.Load() >= s.least || s.q.gone() }

func (q *Queue) ready() bool { return q.count.Load() > 0 || q.gone() }

// dequeue waits for least events, and takes them and more. It waits again if another goroutine has taken them.
func (q *Queue) dequeue(events []Event, least int, timeout time.Duration) (int, error) {
	q.use()
	var c condition = q
	if least > 1 {
		c = &several{q, int32(least)}
	}
	var end time.Time
	if timeout > 0 && timeout != Infinite {
		end = time.Now().Add(timeout)
	}
	for {
		came := q.await(c, timeout)
		if n := q.take(events, least); n > 0 {
			return n, nil
		}
		over := q.l.isOver()
		if timeout > 0 && timeout != Infinite {
			timeout = time.Until(end)
		}
		if came && !over && timeout > 0 && !q.gone() {
			continue
		}
		switch n := q.take(events, 1); {
		case n > 0:
			return n, nil
		case q.gone():
			return 0, wrong("dequeue", queueDeleted)
		case over:
			return 0, &Error{Op: "dequeue", Errno: ENETDOWN, Cause: errLibraryClosed}
		}
		return 0, nil
	}
}

// await waits until c is ready, and reports whether it is.
func (q *Queue) await(c condition, timeout time.Duration) bool {
	if WaitMode(q.mode.Load()) != WaitBusyPoll || timeout <= 0 {
		return q.l.waitIn(&q.list, c, timeout)
	}
	for began := time.Now(); ; {
		if q.l.waitIn(&q.list, c, 0) {
			return true
		}
		if q.l.isOver() || timeout != Infinite && time.Since(began) > timeout {
			return false
		}
	}
}

// take takes events, if there are least at least.
func (q *Queue) take(events []Event, least int) int {
	if int(q.count.Load()) < least {
		return 0
	}
	q.mu.Lock()
	n, notices := min(int(q.count.Load()), len(events)), 0
	if n < least {
		n = 0
	}
	for i := range n {
		e := &q.ring[q.head]
		events[i] = *e
		if e.notice.of != nil {
			notices++
		}
		*e = Event{}
		if q.head++; q.head == len(q.ring) {
			q.head = 0
		}
	}
	q.count.Add(int32(-n))
	q.mu.Unlock()
	if notices > 0 {
		noticed(events[:n])
	}
	return n
}

// put adds the event of an operation that has ended. The operation does not count as outstanding any more when the event can be taken.
func (q *Queue) put(o *op) {
	q.mu.Lock()
	e := q.next()
	if e != nil {
		o.report(e)
	}
	q.end()
	if e != nil {
		q.added()
	}
	q.mu.Unlock()
	q.list.wake()
}

// next returns where to write the next event, or nil if the queue is deleted. The caller holds the lock, and keeps it until it has
// called added.
func (q *Queue) next() *Event {
	if q.ring == nil {
		return nil
	}
	n := int(q.count.Load())
	if n == len(q.ring) {
		q.grow(n)
	}
	at := q.head + n
	if at >= len(q.ring) {
		at -= len(q.ring)
	}
	return &q.ring[at]
}

func (q *Queue) added() {
	if n := int(q.count.Add(1)); q.signal != nil && n >= q.least {
		select {
		case q.signal <- struct{}{}:
		default:
		}
	}
}

func (q *Queue) grow(n int) {
	ring := make([]Event, 2*n)
	copy(ring[copy(ring, q.ring[q.head:]):], q.ring[:q.head])
	q.ring, q.head = ring, 0
}

// Modify changes an attribute (11.2.7). Errors: EINVAL for no such attribute, a
// value of another type, QAttrWait on a queue that an operation has named or a Dequeue was called for, or
// a deleted queue.
func (q *Queue) Modify(attr Attr, value any) error {
	if q.none() {
		return absent("modify queue", EINVAL, noQueue)
	}
	if q.gone() {
		return wrong("modify queue", queueDeleted)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch v := value.(type) {
	case nil:
		if attr == QAttrSignal {
			q.signal = nil
			return nil
		}
	case chan struct{}:
		if attr == QAttrSignal {
			q.setSignal(v)
			return nil
		}
	case chan<- struct{}:
		if attr == QAttrSignal {
			q.setSignal(v)
			return nil
		}
	case int:
		if attr == QAttrEvents && v > 0 {
			q.least = v
			return nil
		}
	case WaitMode:
		if attr == QAttrWait && v >= WaitAdaptive && v <= WaitNotify && !q.used.Load() {
			q.mode.Store(int32(v))
			q.list.passive = v == WaitNotify
			return nil
		}
	}
	return wrong("modify queue", "attribute %d does not take %v, a %T, or not any more", attr, value, value)
}

// setSignal sets the channel to signal, and signals at once if there are events.
func (q *Queue) setSignal(c chan<- struct{}) {
	q.signal = c
	if int(q.count.Load()) >= q.least {
		select {
		case c <- struct{}{}:
		default:
		}
	}
	q.l.watch()
}

// Status returns an attribute (11.2.8). Error: EINVAL for no such attribute.
func (q *Queue) Status(attr Attr) (any, error) {
	if q.none() {
		return nil, absent("queue status", EINVAL, noQueue)
	}
	if q.gone() {
		return nil, wrong("queue status", queueDeleted)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch attr {
	case QAttrSignal:
		return q.signal, nil
	case QAttrEvents:
		return q.least, nil
	case QAttrWait:
		return WaitMode(q.mode.Load()), nil
	}
	return nil, wrong("queue status", "there is no attribute %d", attr)
}
