// Command mx_queue is mx_loop with requests that complete into a Queue, in place of Wait.
package main

import (
	"context"

	"gomx/bench/ordinary/internal/exchange"
	"gomx/mx"
)

func main() {
	exchange.Main(func(ep *mx.Endpoint, most int) (exchange.Way, error) {
		q, err := mx.NewQueue(ep)
		batch := make([]mx.Completion, most)
		return exchange.ByRequest(ep, most, func(reqs []mx.Request) error { return waitQueue(q, batch, reqs) }), err
	}, nil)
}

func waitQueue(q *mx.Queue, batch []mx.Completion, reqs []mx.Request) error {
	if err := q.Add(reqs...); err != nil {
		return err
	}
	for missing := len(reqs); missing > 0; {
		n, err := q.Wait(context.Background(), batch, mx.Infinite)
		if err != nil {
			return err
		}
		for i := range batch[:n] {
			if err := batch[i].Status.Err(); err != nil {
				return err
			}
		}
		missing -= n
	}
	return nil
}
