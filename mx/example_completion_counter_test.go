package mx_test

import (
	"context"
	"fmt"
	"log"

	"gomx/mx"
)

// A counter says when a hundred messages are there and sent. Nobody collects a request.
func ExampleCompletionCounter() {
	a, b, toB, done := twoEndpoints()
	defer done()
	sent, came := must(a.NewCompletionCounter()), must(b.NewCompletionCounter())
	defer sent.Close()
	defer came.Close()

	const messages = 100
	var bufs [messages][8]byte
	for i := range uint64(messages) {
		if err := came.Irecv(bufs[i][:], i, mx.MatchMaskNone); err != nil {
			log.Fatal(err)
		}
		if err := sent.Isend(fmt.Append(nil, i), toB, i); err != nil {
			log.Fatal(err)
		}
	}
	for _, c := range []*mx.CompletionCounter{came, sent} {
		successes, failures, err := c.Wait(context.Background(), messages, mx.Infinite)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(successes, "succeeded,", failures, "failed")
	}
	fmt.Printf("the last one is %s\n", bufs[messages-1][:2])
	// Output:
	// 100 succeeded, 0 failed
	// 100 succeeded, 0 failed
	// the last one is 99
}

// One goroutine waits for counters of several endpoints, beside other requests: a threshold is a request, and stands in a queue.
func ExampleCompletionCounter_Threshold() {
	a, b, toB, done := twoEndpoints()
	defer done()
	q := must(mx.NewQueue(a, b))
	defer q.Close()

	const messages = 10
	for _, ep := range []*mx.Endpoint{a, b} {
		counter := must(ep.NewCompletionCounter())
		defer counter.Close()
		for i := range uint64(messages) {
			var r mx.Request
			if ep == a {
				r = must(a.Isend(nil, toB, i, nil))
			} else {
				r = must(b.Irecv(nil, i, mx.MatchMaskNone, nil))
			}
			if err := counter.Add(r); err != nil {
				log.Fatal(err)
			}
		}
		if err := q.Add(must(counter.Threshold(messages, 0, ep.String()))); err != nil {
			log.Fatal(err)
		}
	}
	reached := make([]mx.Completion, 2)
	for n := 0; n < len(reached); {
		more, err := q.Wait(context.Background(), reached[n:], mx.Infinite)
		if err != nil {
			log.Fatal(err)
		}
		n += more
	}
	fmt.Println("all", 2*messages, "are complete")
	// Output:
	// all 20 are complete
}
