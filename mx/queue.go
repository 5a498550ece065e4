package mx

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/internal/ended"
)

// Queue is a completion queue: requests that were added to it complete into it, and Wait collects them in
// batches. Peek, TestAny and WaitAny of an endpoint don't see them; Test, Wait, Cancel and Forget work on them as on all
// requests. A program that has several kinds of work on an endpoint gives each a queue of its own, and a
// goroutine that serves several endpoints one queue over all of them. MX does not have it.
//
// The methods of a Queue may be called from any number of goroutines, unless its only endpoint was opened with SingleThreaded; each completion
// goes to one of them.
type Queue struct {
	q   *driver.Queue
	eps []*Endpoint
}

// Completion is a request that has completed and was collected.
type Completion struct {
	Request Request // as it was posted; it can't be used any more
	Index   int     // WaitSome: the place of the request
	Message []byte  // of a message in the buffer of Request, an IrecvMulti, which goes on: not nil, also if it is empty
	Status  Status
}

// NewQueue makes a completion queue for one or several endpoints, each named once. It disables single-threaded mode of
// endpoints that share a queue. Errors: ErrBadEndpoint if an endpoint is nil or closed, ErrBadParamVal without
// endpoints or with one named twice.
func NewQueue(over ...*Endpoint) (*Queue, error) {
	q := &Queue{eps: append([]*Endpoint(nil), over...)}
	var list []*driver.Endpoint
	for i, ep := range over {
		if ep == nil {
			return nil, fail("new queue", ErrBadEndpoint, "", &instead{fmt.Sprintf("endpoint %d of %d is nil", i+1, len(over)), nil})
		}
		if len(over) > 1 {
			ep.d.Share()
		}
		list = append(list, ep.d)
	}
	var err error
	if q.q, err = driver.NewQueue(list...); err != nil {
		return nil, failQueue("new queue", err)
	}
	return q, nil
}

// failQueue makes the error of a call on a queue. What queues alone refuse needs no words of a code.
func failQueue(op string, err error) error {
	return handle(nil, queueError(op, err))
}

func queueError(op string, err error) *Error {
	e := &Error{Op: op, Code: queueCode(err)}
	if e.Code != codeOf(err) {
		e.Cause = &instead{err.Error(), err}
	} else if !isPlain(err) || err == driver.ErrClosed { // the endpoint is, and not the queue
		e.Cause = err
	}
	return e
}

// queueCode is the code of an error of a driver's queue.
func queueCode(err error) ReturnCode {
	for _, refused := range []error{driver.ErrNoEndpoints, driver.ErrNotOfQueue, driver.ErrSeveral, driver.ErrHandled, errNoHandler} {
		if errors.Is(err, refused) {
			return ErrBadParamVal
		}
	}
	if errors.Is(err, driver.ErrQueueClosed) {
		return ErrBadEndpoint
	}
	return codeOf(err)
}

var errNoHandler = errors.New("a queue's handler can't be nil; Close ends one")

// Add has requests complete into the queue, whichever they completed into before. One that is complete already
// moves there, behind what the queue has. Of an IrecvMulti it moves the end, and the messages that match from then on. An error leaves all where they are. Errors: ErrBadRequest, ErrBadParamVal for a request of an endpoint that the queue is not over,
// ErrBadEndpoint if the queue or the endpoint is closed.
func (q *Queue) Add(reqs ...Request) error {
	for i := range reqs {
		if reqs[i].ep == nil {
			return failQueue("add to queue", ErrBadRequest)
		}
	}
	err := q.q.Add(len(reqs), func(i int) (*driver.Endpoint, endpoint.Handle) { return reqs[i].ep.d, reqs[i].h })
	if err != nil {
		return failQueue("add to queue", err)
	}
	return nil
}

// Handle has f called when requests of the queue have completed, with those that have, up to 16, in the order of their
// completion, as Wait collects them. As the handler of unexpected messages it runs in whichever goroutine makes
// progress, one call at a time and not beside that handler; a program that calls nothing has it called too, some
// milliseconds later. It may make requests, and must not keep the list; closing the endpoint or a window is ErrCloseInHandler. The queue is over one endpoint; nobody waits for it
// besides: Wait is ErrBadParamVal from then on, also one that waits already. f must return, or panic, which goes up as that of an UnexpHandler does, whereupon the rest of the
// list is not handed to it again: it must not end its goroutine (runtime.Goexit), which may be the endpoint's own. Handle is called once. Errors: ErrBadParamVal if f is nil, the queue is over several endpoints or has a handler,
// ErrBadEndpoint if the queue or the endpoint is closed.
func (q *Queue) Handle(f func(done []Completion)) error {
	if f == nil {
		return failQueue("handle queue", errNoHandler)
	}
	if err := q.handle(f); err != nil {
		return failQueue("handle queue", err)
	}
	return nil
}

// handle is Handle without the error handler.
func (q *Queue) handle(f func(done []Completion)) error {
	ep, batch := q.eps[0], make([]Completion, 16)
	return q.q.Handle(len(batch), func(i, _ int, h endpoint.Handle, message []byte, st *endpoint.Status) {
		batch[i].Request, batch[i].Message = Request{ep, h}, message
		batch[i].Status.fill(ep, st)
	}, func(n int) {
		f(batch[:n])
		for i := range n {
			batch[i].Status.Context, batch[i].Message = nil, nil
		}
	})
}

// Wait blocks until requests of the queue are complete, and collects up to len(dst) of them into dst, those of one
// endpoint in the order of their completion; those that were complete when they were added, in the order in which that was. It waits until ctx ends, whose error it then returns, or until the timeout
// has passed: Infinite waits for ever, 0 polls once. ctx may be nil. 0 without an error says that the time has passed, that
// Wakeup was called on an endpoint, or that dst is empty. ErrBadEndpoint says that the queue, or all its endpoints,
// are closed, ErrBadParamVal that the queue has a handler. Nothing is allocated if ctx is nil.
func (q *Queue) Wait(ctx context.Context, dst []Completion, timeout time.Duration) (n int, err error) {
	if len(dst) == 0 {
		return 0, nil
	}
	n, err = q.q.Wait(ctx, timeout, len(dst), func(i, over int, h endpoint.Handle, message []byte, st *endpoint.Status) {
		ep := q.eps[over]
		dst[i].Request, dst[i].Index, dst[i].Message = Request{ep, h}, 0, message
		dst[i].Status.fill(ep, st)
	})
	if err != nil && !ended.By(ctx, err) {
		err = failQueue("wait for queue", err)
	}
	return n, err
}

// PollFDs returns one descriptor for each open endpoint of the queue, for callers with a loop of their own: one of them becomes
// readable when something has come in for a queue that Arm has armed. They belong to the endpoints; only poll them. That
// of an endpoint is gone when it is closed, and its number may soon be another file's: PollFDs no longer has it. Errors:
// ErrNoDriver if the transports of an endpoint have none, as mem alone, ErrNoResources if this process has no file descriptor left,
// ErrBadEndpoint if the queue, or all its endpoints, are closed. Safe from any goroutine.
func (q *Queue) PollFDs() ([]int, error) {
	fds, err := q.q.FDs()
	if err != nil {
		return nil, failQueue("poll descriptors of queue", noDescriptor(err, "an endpoint of the queue has no descriptor to poll"))
	}
	return fds, nil
}

// Arm prepares the queue for a caller that is about to sleep on PollFDs. False means that there is something to collect
// already, or was until another goroutine took it, or that another goroutine waits for the endpoint just now, which then polls
// in the caller's place: don't sleep. Any later call on one of the endpoints disarms
// that. After waking up, collect with a Wait of timeout 0, and arm again. Endpoints that are closed don't count. Error:
// ErrBadEndpoint if the queue, or all its endpoints, are closed.
func (q *Queue) Arm() (bool, error) {
	armed, err := q.q.Arm()
	if err != nil {
		err = failQueue("arm queue", err)
	}
	return armed, err
}

// Close gives the queue back. Its requests, complete or not, are their endpoints' from then on, the complete ones in their order behind
// those that the endpoints have, but for messages of an
// IrecvMulti, which are dropped unless they were collected; callers of Wait
// return with ErrBadEndpoint. A handler that runs at that moment goes on to its end, and no other begins. A second Close
// does nothing.
func (q *Queue) Close() { q.q.Close() }
