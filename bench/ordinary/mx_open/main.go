// Command mx_open opens endpoints whose numbers the library chooses, one after the other, and measures the last of them: for
// how long a program waits for one more. With -connect it is how long one more takes to connect to the first one, at which
// nothing waits meanwhile.
package main

import (
	"flag"
	"slices"
	"time"

	"gomx/bench/internal/figure"
	"gomx/bench/ordinary/internal/meet"
	"gomx/mx"
)

func main() {
	endpoints := flag.Int("endpoints", 1, "how many there are in the end")
	connect := flag.Bool("connect", false, "connect each to the first one")
	flag.Parse()
	figure.Fail(run(*endpoints, *connect))
}

func run(endpoints int, connect bool) error {
	if err := meet.Begin(); err != nil {
		return err
	}
	var all []*mx.Endpoint
	var took []float64
	m := figure.Begin()
	for range endpoints {
		began := time.Now()
		ep, err := meet.ServeAny()
		if err != nil {
			return err
		}
		all = append(all, ep)
		if connect {
			began = time.Now()
			if _, err := meet.Connect(ep, all[0]); err != nil {
				return err
			}
		}
		took = append(took, time.Since(began).Seconds()*1e6)
	}
	// The first one is alone; of more a tenth is the last.
	last := took[endpoints-max(1, endpoints/10):]
	slices.Sort(last)
	m.Print(last[len(last)/2], endpoints)
	for _, ep := range all {
		if err := ep.Close(); err != nil {
			return err
		}
	}
	return nil
}
