// Command mx_round has one goroutine serve many endpoints of its process: it sends a message from each of them to the next
// one, receives it there, and goes on with that.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"

	"gomx/bench/internal/figure"
	"gomx/bench/ordinary/internal/meet"
	"gomx/mx"
)

func main() {
	endpoints := flag.Int("endpoints", 256, "how many there are, 2 at least")
	count := flag.Int("count", 100_000, "messages")
	flag.Parse()
	figure.Fail(run(max(2, *endpoints), *count))
}

func run(endpoints, count int) error {
	ring, next, err := open(endpoints)
	if err != nil {
		return err
	}
	// Each has been sent to before anything is measured.
	if err := round(ring, next, max(count/10, 2*endpoints)); err != nil {
		return err
	}
	m := figure.Begin()
	if err := round(ring, next, count); err != nil {
		return err
	}
	m.Each(count)
	for _, ep := range ring {
		if err := ep.Close(); err != nil {
			return err
		}
	}
	return nil
}

// open opens endpoints, and connects each to the next one.
func open(endpoints int) (ring []*mx.Endpoint, next []mx.EndpointAddr, err error) {
	for range endpoints {
		ep, err := meet.ServeAny()
		if err != nil {
			return nil, nil, err
		}
		ring = append(ring, ep)
	}
	for i, ep := range ring {
		to, err := meet.Connect(ep, ring[(i+1)%endpoints])
		if err != nil {
			return nil, nil, err
		}
		next = append(next, to)
	}
	return ring, next, nil
}

func round(ring []*mx.Endpoint, next []mx.EndpointAddr, count int) error {
	buf, got := make([]byte, 8), make([]byte, 8)
	for n := range count {
		i := n % len(ring)
		binary.LittleEndian.PutUint64(buf, uint64(n))
		if err := meet.Send(ring[i], buf, next[i], 1); err != nil {
			return err
		}
		if _, err := meet.Recv(ring[(i+1)%len(ring)], got, 1); err != nil {
			return err
		}
		if m := binary.LittleEndian.Uint64(got); m != uint64(n) {
			return fmt.Errorf("received message %d, not %d", m, n)
		}
	}
	return nil
}
