// Command engine_crowd has the protocol engines of many endpoints talk to each other in one goroutine, without any medium between
// them, and measures what a message costs or what memory they take. The figure is that of -figure:
//
//	message   ns of a message that is sent and received, many in a row
//	cold      ns of a message to an endpoint whose state has left the caches meanwhile
//	peer      bytes of one side's knowledge of one peer, with its link
//	endpoint  bytes of an engine that has talked to itself only
//	allocs    allocations of a message
package main

import (
	"flag"
	"fmt"
	"runtime/debug"

	"gomx/bench/internal/figure"
	"gomx/transport/wire"
)

func main() {
	endpoints := flag.Int("endpoints", 1000, "how many there are, 3 at least")
	star := flag.Bool("star", false, "connect all with the first, in place of each with 16 others")
	heals := flag.Bool("heals", false, "have engines keep what they send until it is acknowledged")
	messages := flag.Int("messages", 500_000, "how many are sent, about")
	which := flag.String("figure", "message", "`what` is printed: message, cold, peer, endpoint or allocs")
	flag.Parse()
	figure.Fail(run(max(3, *endpoints), *star, *heals, *messages, *which))
}

const (
	manyInARow = 64
	warmBursts = 4
)

func run(endpoints int, star, heals bool, messages int, which string) error {
	empty := heap()
	c := newCrowd(endpoints, wire.Caps{Name: "crowd", MaxFrame: 2048, Eager: 2048, Ordered: true, Reliable: true, Heals: heals})
	if err := c.toSelf(); err != nil {
		return err
	}
	alone := heap()
	join := c.sparse
	if star {
		join = c.star
	}
	if err := join(); err != nil {
		return err
	}
	c.tick()
	m := figure.Begin()
	var w work
	if err := c.rounds(len(c.members[1].peers), 1, &w); err != nil { // each relation has had a message
		return err
	}
	perPeer := float64(heap()-alone) / float64(c.ends)
	switch which {
	case "endpoint":
		m.Print(float64(alone-empty)/float64(endpoints), endpoints)
		return nil
	case "peer":
		m.Print(perPeer, c.ends)
		return nil
	}
	c.quiet()
	return c.messages(messages, which)
}

// messages prints what a message costs.
func (c *crowd) messages(messages int, which string) error {
	// Of a large crowd the first peers of each endpoint are enough messages.
	peers := min(len(c.members[1].peers), 1+messages/(len(c.members)*manyInARow))
	var w work
	if err := c.rounds(peers, manyInARow, &w); err != nil { // what is allocated once is there
		return err
	}
	// The collector's pauses grow with all the engines together, which no process of
	// the real world has.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	burst, warm := manyInARow, warmBursts
	if which == "cold" {
		burst, warm, messages = 1, 0, messages/10
		c.quiet()
	}
	m, before := figure.Begin(), mallocs()
	w = work{}
	messages = max(1, messages)
	for number := 0; w.messages < messages; number++ {
		if err := c.round(number%peers, burst, warm, messages, &w); err != nil {
			return err
		}
	}
	switch which {
	case "message", "cold":
		m.Print(float64((w.send+w.receive).Nanoseconds())/float64(w.messages), w.messages)
	case "allocs":
		m.Print(float64(mallocs()-before)/float64(w.messages*(1+warm)), w.messages)
	default:
		return fmt.Errorf("-figure %s: want message, cold, peer, endpoint or allocs", which)
	}
	return nil
}
