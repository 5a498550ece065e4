// Command mx_counter is mx_loop with requests that a completion counter counts, in place of Wait.
package main

import (
	"context"
	"fmt"

	"gomx/bench/ordinary/internal/exchange"
	"gomx/mx"
)

func main() {
	exchange.Main(func(ep *mx.Endpoint, _ int) (exchange.Waiting, error) {
		c, err := ep.NewCompletionCounter()
		begun := uint64(0)
		return func(reqs []mx.Request) error {
			if err := c.Add(reqs...); err != nil {
				return err
			}
			begun += uint64(len(reqs))
			_, failures, err := c.Wait(context.Background(), begun, mx.Infinite)
			if err == nil && failures > 0 {
				err = fmt.Errorf("%d of %d requests failed", failures, begun)
			}
			return err
		}, err
	}, nil)
}
