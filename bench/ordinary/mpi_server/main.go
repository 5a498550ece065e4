// Command mpi_server has rank 0 answer the requests of all other ranks, whichever comes first: Recv from AnySource, and
// Send to where the status says. What is measured is the time for each request.
package main

import (
	"flag"
	"fmt"

	"gomx/bench/ordinary/internal/repeat"
	"gomx/mpi"
)

const (
	requestTag = 1
	answerTag  = 2
)

// message is a request, which the answer returns with the number doubled.
type message struct {
	Client, Number int64
	Rest           [6]int64
}

func main() {
	ms := flag.Int("ms", 500, "how `long`, ms")
	flag.Parse()
	mpi.Main(func(world *mpi.Comm) error { return run(world, *ms) })
}

func run(world *mpi.Comm, ms int) error {
	clients := world.Size() - 1
	if clients < 1 {
		return fmt.Errorf("a server alone has no clients")
	}
	return repeat.Measure(world, ms, clients, func(rounds int) error {
		if world.Rank() == 0 {
			return serve(world, rounds*clients)
		}
		return ask(world, rounds)
	})
}

func serve(world *mpi.Comm, requests int) error {
	buf := make([]message, 1)
	for range requests {
		st, err := mpi.Recv(world, buf, mpi.AnySource, requestTag)
		if err != nil {
			return err
		}
		if buf[0].Client != int64(st.Source) {
			return fmt.Errorf("a request of rank %d says that it comes from %d", st.Source, buf[0].Client)
		}
		buf[0].Number *= 2
		if err := mpi.Send(world, buf, st.Source, answerTag); err != nil {
			return err
		}
	}
	return nil
}

func ask(world *mpi.Comm, requests int) error {
	own := int64(world.Rank())
	buf := make([]message, 1)
	for i := range int64(requests) {
		buf[0] = message{Client: own, Number: i}
		if err := mpi.Send(world, buf, 0, requestTag); err != nil {
			return err
		}
		if _, err := mpi.Recv(world, buf, 0, answerTag); err != nil {
			return err
		}
		if buf[0].Client != own || buf[0].Number != 2*i {
			return fmt.Errorf("rank %d: the answer to %d is %d, for rank %d", own, i, buf[0].Number, buf[0].Client)
		}
	}
	return nil
}
