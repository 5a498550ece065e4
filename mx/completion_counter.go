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

// CompletionCounter is a completion counter of an endpoint (fi_cntr of OFI): it counts the sends and receives that its methods Isend and
// Irecv start, and other requests that are added to it, as they complete, and no request is left to collect. It counts peers' puts
// into windows as well. A program that has started much and wants to know no more than that all is over waits for a number.
// That is quicker than a Wait for each: a small message that leaves at once needs no request. MX does not have it.
//
// The methods of a CompletionCounter may be called from any number of goroutines, unless the endpoint was opened with SingleThreaded.
type CompletionCounter struct {
	ep *Endpoint
	c  *driver.Counter
}

// NewCompletionCounter makes a counter, which stands at 0. Error: ErrBadEndpoint. Safe from any goroutine.
func (ep *Endpoint) NewCompletionCounter() (*CompletionCounter, error) {
	c, err := ep.d.NewCounter()
	if err != nil {
		return nil, ep.fail("new counter", "", err)
	}
	return &CompletionCounter{ep, c}, nil
}

// Add has requests of the endpoint be counted when they complete; those that are complete already are counted at once. Nobody
// collects them: they can't be used any more, as after Forget. What completes with StatusSuccess is a success, and
// everything else, a truncated message too, is a failure. Of a multi-receive each message that it takes from now on is counted, and in
// the end the multi-receive itself. A request that is named twice is counted once. An error leaves all as they were. Errors: ErrBadRequest, also for one of another endpoint, ErrBadEndpoint if the counter or the endpoint is closed.
func (c *CompletionCounter) Add(reqs ...Request) error {
	for i := range reqs {
		if reqs[i].ep != c.ep {
			return c.fail("add to counter", ErrBadRequest)
		}
	}
	return c.fail("add to counter", c.c.Add(len(reqs), func(i int) endpoint.Handle { return reqs[i].h }))
}

// Isend is Endpoint.Isend for the counter to count: Isend and Add in one call, and no request is made if the message can leave at
// once. Errors: those of Endpoint.Isend, and ErrBadEndpoint if the counter is closed.
func (c *CompletionCounter) Isend(buf []byte, dest EndpointAddr, matchSend uint64) error {
	ep := c.ep
	if dest.ep != ep {
		return ep.fail(countedSend, dest.String(), ep.owns(dest))
	}
	err := c.c.Send(&endpoint.Outgoing{First: buf, To: dest.a, Match: matchSend}, &endpoint.SendOptions{Level: ep.options.Level})
	if err != nil {
		err = c.failWith(countedSend, dest.String(), err)
	}
	return err
}

const countedSend = "counted isend to"

// Irecv is Endpoint.Irecv for the counter to count: Irecv and Add in one call. Such a receive can't be cancelled, and its status is
// not told; how many messages were truncated is in the number of failures. Errors: those of Endpoint.Irecv, and
// ErrBadEndpoint if the counter is closed.
func (c *CompletionCounter) Irecv(buf []byte, matchRecv, matchMask uint64) error {
	err := c.c.Recv(&endpoint.Posting{First: buf, Value: matchRecv, Mask: matchMask}, &endpoint.RecvOptions{})
	if err != nil {
		err = c.fail("counted irecv", err)
	}
	return err
}

// CountPuts has the counter count the puts that peers, or the endpoint itself, write to one of its windows from now on, and their
// atomics other than AtomicRead, each as a success: also one that has left the bytes as they were, such as a
// compare-and-swap that found another value. What a put that is counted has written may be read. A window is
// counted by one counter at a time: the last. Errors: ErrBadRequest for a window of another endpoint, ErrBadSegMem for one that is closed,
// ErrBadEndpoint if the counter or the endpoint is closed.
func (c *CompletionCounter) CountPuts(w *Window) error {
	if w == nil || w.ep != c.ep {
		return c.fail("count puts", fmt.Errorf("%w: the window is not one of this endpoint", ErrBadRequest))
	}
	return c.fail("count puts", c.c.CountPuts(w.id))
}

// Wait blocks until the counter stands at count or more, successes and failures together, and returns both. It waits until
// ctx ends, whose error it then returns, or until the timeout has passed: Infinite waits for ever, 0 polls once. ctx may be
// nil. Less than count without an error says that the time has passed, or that Wakeup was called. Error: ErrBadEndpoint if
// the counter or the endpoint is closed, also meanwhile. Nothing is allocated if ctx is nil.
func (c *CompletionCounter) Wait(ctx context.Context, count uint64, timeout time.Duration) (successes, failures uint64, err error) {
	successes, failures, err = c.c.Wait(ctx, count, timeout)
	if err != nil && !ended.By(ctx, err) {
		err = c.fail("wait for counter", err)
	}
	return successes, failures, err
}

// Value makes one pass of the progression, and returns at what the counter stands. Error: ErrBadEndpoint if the counter or the
// endpoint is closed.
func (c *CompletionCounter) Value() (successes, failures uint64, err error) {
	successes, failures, err = c.c.Value()
	return successes, failures, c.fail("read counter", err)
}

// Threshold makes a request that completes with StatusSuccess when the counter stands at count or more, successes and failures together,
// and is collected as others are: by Wait, in a set or a Queue, beside requests and the thresholds of other counters, which makes a wait set of them. Cancel takes it
// back. It has no timeout unless SetRequestTimeout gives it one. StatusAborted says that the counter was closed. Error: ErrBadEndpoint if
// the counter or the endpoint is closed.
func (c *CompletionCounter) Threshold(count, matchInfo uint64, context any) (Request, error) {
	h, err := c.c.Threshold(count, matchInfo, context)
	if err != nil {
		return Request{}, c.fail("make threshold", err)
	}
	return Request{c.ep, h}, nil
}

// Close gives the counter back. What it would still have counted goes on uncounted, and thresholds that were not reached complete
// with StatusAborted. A second Close does nothing.
func (c *CompletionCounter) Close() { c.c.Close() }

// fail makes the error of a call on a counter.
func (c *CompletionCounter) fail(op string, err error) error { return c.failWith(op, "", err) }

func (c *CompletionCounter) failWith(op, peer string, err error) error {
	switch {
	case errors.Is(err, driver.ErrQueueClosed):
		err = fmt.Errorf("%w: the counter is closed", ErrBadEndpoint)
	case errors.Is(err, driver.ErrNoWindow):
		err = fmt.Errorf("%w: %w", ErrBadSegMem, err)
	}
	return c.ep.fail(op, peer, err)
}
