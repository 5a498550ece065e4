package mx_test

import (
	"context"
	"fmt"
	"log"

	"gomx/mx"
)

// One goroutine serves two kinds of messages on two endpoints: the requests complete into one queue, and each batch
// may hold some of both.
func ExampleQueue() {
	a, b, toB, done := twoEndpoints()
	defer done()
	q := must(mx.NewQueue(a, b))
	defer q.Close()

	const messages = 3
	for i := range uint64(messages) {
		buf := make([]byte, 64)
		if err := q.Add(
			must(b.Irecv(buf, i, mx.MatchMaskNone, nil)),
			must(a.Isend([]byte("hello"), toB, i, nil)),
		); err != nil {
			log.Fatal(err)
		}
	}

	var sent, received int
	for batch := make([]mx.Completion, 8); sent+received < 2*messages; {
		n, err := q.Wait(context.Background(), batch, mx.Infinite) // 0 completions and no error: Wakeup was called
		if err != nil {
			log.Fatal(err)
		}
		for _, c := range batch[:n] {
			if c.Status.Code != mx.StatusSuccess {
				log.Fatal(c.Status.Code)
			}
			if c.Request.Endpoint() == a {
				sent++
			} else {
				received++
			}
		}
	}
	fmt.Println(sent, "sent,", received, "received")
	// Output:
	// 3 sent, 3 received
}
