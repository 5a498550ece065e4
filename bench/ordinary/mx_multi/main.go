// Command mx_multi is mx_loop with a receiver that has two buffers for many messages (IrecvMulti) in place of a receive for each.
package main

import (
	"context"

	"gomx/bench/ordinary/internal/exchange"
	"gomx/mx"
)

func main() {
	exchange.Main(exchange.WaitEach, take)
}

// bufferSize is that of one of the buffers.
const bufferSize = 64 << 10

func take(ep *mx.Endpoint, messages, bytes int) (exchange.Taking, error) {
	q, err := mx.NewQueue(ep)
	if err != nil {
		return nil, err
	}
	post := func(buf []byte) error {
		_, err := ep.IrecvMulti(q, buf, bytes, exchange.Match, mx.MatchMaskNone, buf)
		return err
	}
	for range 2 {
		if err := post(make([]byte, max(bufferSize, bytes))); err != nil {
			return nil, err
		}
	}
	batch := make([]mx.Completion, messages)
	return func(check func(message []byte) error) error {
		for missing := messages; missing > 0; {
			n, err := q.Wait(context.Background(), batch[:missing], mx.Infinite)
			if err != nil {
				return err
			}
			for i := range batch[:n] {
				c := &batch[i]
				if err = c.Status.Err(); err == nil && c.Message != nil {
					missing--
					err = check(c.Message)
				} else if err == nil {
					err = post(c.Status.Context.([]byte)) // all of its messages have been checked
				}
				if err != nil {
					return err
				}
			}
		}
		return nil
	}, nil
}
