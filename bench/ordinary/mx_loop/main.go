// Command mx_loop sends messages from one process to another, a window at a time, and gets one back: by
// Isend, Irecv, and Wait with its status or WaitAny. A window of one is a ping-pong.
package main

import (
	"flag"

	"gomx/bench/ordinary/internal/exchange"
	"gomx/mx"
)

func main() {
	anyone := flag.Bool("any", false, "wait by WaitAny")
	exchange.Main(func(ep *mx.Endpoint, most int) (exchange.Way, error) {
		if *anyone {
			return exchange.ByRequest(ep, most, func(reqs []mx.Request) error { return waitAny(ep, len(reqs)) }), nil
		}
		return exchange.WaitEach(ep, most)
	}, nil)
}

func waitAny(ep *mx.Endpoint, count int) error {
	for range count {
		st, _, err := ep.WaitAny(mx.Infinite, exchange.Match, mx.MatchMaskNone)
		if err == nil {
			err = st.Err()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
