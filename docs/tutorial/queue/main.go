// Command queue counts primes: rank 0 hands out pieces of the work to whichever rank is free.
package main

import (
	"fmt"

	"gomx/mpi"
)

const (
	limit = 1_000_000
	piece = 10_000 // numbers in a piece of the work
)

// Tags tell a rank what a message is.
const (
	tagResult = iota + 1 // from a worker: the primes in its last piece
	tagWork              // to a worker: the first number of its next piece
	tagStop              // to a worker: there is no more
)

func main() {
	mpi.Main(func(world *mpi.Comm) error {
		switch {
		case world.Size() == 1: // nobody to hand anything to
			fmt.Printf("%d primes below %d\n", count(0, limit), limit)
			return nil
		case world.Rank() == 0:
			return handOut(world)
		}
		return work(world)
	})
}

// handOut answers each result with the next piece, until there are none left.
func handOut(world *mpi.Comm) error {
	total, next, working := 0, 0, world.Size()-1
	for working > 0 {
		result := []int{0}
		st, err := mpi.Recv(world, result, mpi.AnySource, tagResult)
		if err != nil {
			return err
		}
		total += result[0]
		tag := tagWork
		if next >= limit {
			tag, working = tagStop, working-1
		}
		if err := mpi.Send(world, []int{next}, st.Source, tag); err != nil {
			return err
		}
		next += piece
	}
	fmt.Printf("%d primes below %d\n", total, limit)
	return nil
}

// work sends a result and takes a piece, over and over. The first result is that of no work at all.
func work(world *mpi.Comm) error {
	result, first := []int{0}, []int{0}
	for {
		if err := mpi.Send(world, result, 0, tagResult); err != nil {
			return err
		}
		st, err := mpi.Recv(world, first, 0, mpi.AnyTag)
		if err != nil {
			return err
		}
		if st.Tag == tagStop {
			return nil
		}
		result[0] = count(first[0], first[0]+piece)
	}
}

// count returns how many numbers from begin to end, without end, are prime.
func count(begin, end int) (primes int) {
	for n := max(begin, 2); n < end; n++ {
		prime := true
		for d := 2; prime && d*d <= n; d++ {
			prime = n%d != 0
		}
		if prime {
			primes++
		}
	}
	return primes
}
