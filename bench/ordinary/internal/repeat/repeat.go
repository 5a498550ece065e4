// Package repeat has all ranks of a program of bench/ordinary do the same again and again for a while, and measures it.
package repeat

import (
	"time"

	"gomx/bench/internal/figure"
	"gomx/mpi"
)

// most is how many rounds there are at most between two looks at the clock.
const most = 50

// Measure has every rank call do, which makes the given number of rounds, until rank 0 says that the time is up, after some
// that are not measured. A round has so many operations; rank 0 prints microseconds for each of them.
func Measure(world *mpi.Comm, ms, ops int, do func(rounds int) error) error {
	// How many rounds come before the next look. It grows from 1, because a round may take a microsecond or a second.
	batch := 1
	if _, err := during(world, ms/10, &batch, do); err != nil {
		return err
	}
	m := figure.Begin()
	rounds, err := during(world, ms, &batch, do)
	if err != nil {
		return err
	}
	if world.Rank() == 0 {
		m.Each(rounds * ops)
	} else {
		m.Aside()
	}
	return nil
}

func during(world *mpi.Comm, ms int, batch *int, do func(rounds int) error) (rounds int, err error) {
	enough := []int64{0}
	for begin := time.Now(); enough[0] == 0; {
		if err := do(*batch); err != nil {
			return rounds, err
		}
		rounds += *batch
		*batch = min(2**batch, most)
		if world.Rank() == 0 && time.Since(begin) >= time.Duration(ms)*time.Millisecond {
			enough[0] = 1
		}
		// An Allreduce rather than a Bcast, so that rank 0 counts nothing that the others have yet to do.
		if err := mpi.Allreduce(world, enough, enough, mpi.Max); err != nil {
			return rounds, err
		}
	}
	return rounds, nil
}
