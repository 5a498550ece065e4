package mx_test

import (
	"context"
	"fmt"
	"log"

	"gomx/mx"
)

// A server takes requests of any length into large buffers, and posts another one when one is used up.
func ExampleEndpoint_IrecvMulti() {
	a, b, toB, done := twoEndpoints()
	defer done()
	q := must(mx.NewQueue(b))
	defer q.Close()

	const longest = 100
	post := func() { must(b.IrecvMulti(q, make([]byte, 512), longest, 0, 0, nil)) }
	post()
	for i := range uint64(50) {
		if err := a.Forget(must(a.Isend(fmt.Appendf(nil, "request %d", i), toB, i, nil))); err != nil {
			log.Fatal(err)
		}
	}
	requests, buffers := 0, 1
	for batch := make([]mx.Completion, 8); requests < 50; {
		n, err := q.Wait(context.Background(), batch, mx.Infinite)
		if err != nil {
			log.Fatal(err)
		}
		for _, c := range batch[:n] {
			switch {
			case c.Status.Code != mx.StatusSuccess:
				log.Fatal(c.Status.Code)
			case c.Message == nil:
				post() // the buffer is used up, and ours again
				buffers++
			default:
				if requests++; requests == 50 {
					fmt.Printf("%s, of %d, into %d buffers\n", c.Message, requests, buffers)
				}
			}
		}
	}
	// Output:
	// request 49, of 50, into 2 buffers
}
