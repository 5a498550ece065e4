package mpi_test

import (
	"fmt"
	"runtime"
	"testing"

	"gomx/mpi"
)

// TestCollectivesDoNotAllocate counts what all ranks of a process allocate in steady state.
func TestCollectivesDoNotAllocate(t *testing.T) {
	const calls = 100
	for _, medium := range []string{"mem", "shm"} {
		skipWithout(t, medium)
		for name, call := range map[string]func(c *mpi.Comm, from, to []float64) error{
			"barrier": func(c *mpi.Comm, _, _ []float64) error { return c.Barrier() },
			"bcast":   func(c *mpi.Comm, from, _ []float64) error { return mpi.Bcast(c, from, 1) },
			"reduce":  func(c *mpi.Comm, from, to []float64) error { return mpi.Reduce(c, from, to, mpi.Sum, 2) },
			"allreduce": func(c *mpi.Comm, from, to []float64) error {
				return mpi.Allreduce(c, from, to, mpi.Sum)
			},
			"maximum in place": func(c *mpi.Comm, from, _ []float64) error {
				return mpi.Allreduce(c, from, from, mpi.Max)
			},
			"allgather": func(c *mpi.Comm, from, to []float64) error {
				part := len(to) / c.Size()
				return mpi.Allgather(c, from[:part], to[:part*c.Size()])
			},
			"alltoall": func(c *mpi.Comm, from, to []float64) error {
				whole := len(to) / c.Size() * c.Size()
				return mpi.Alltoall(c, from[:whole], to[:whole])
			},
			"scan": func(c *mpi.Comm, from, to []float64) error { return mpi.Scan(c, from, to, mpi.Sum) },
		} {
			for _, count := range []int{8, 9_000} {
				t.Run(fmt.Sprintf("%s/%s/%d", medium, name, count), func(t *testing.T) {
					least := uint64(1 << 62)
					for try := 0; try < 5 && least > calls/4; try++ { // the runtime allocates a little now and then
						least = min(least, allocations(t, medium, calls, count, call))
					}
					if least > calls/4 {
						t.Errorf("%d allocations in %d calls of 3 ranks", least, calls)
					}
				})
			}
		}
	}
}

// allocations counts what 3 ranks allocate in so many calls, after some more.
func allocations(t *testing.T, medium string, calls, count int, call func(c *mpi.Comm, from, to []float64) error) uint64 {
	const warm = 30
	var before, after runtime.MemStats
	world(t, 3, func(c *mpi.Comm) error {
		from, to := make([]float64, count), make([]float64, count)
		for i := range warm + calls {
			if i == warm && c.Rank() == 0 {
				runtime.ReadMemStats(&before)
			}
			if err := call(c, from, to); err != nil {
				return err
			}
			// Without it some ranks would be ahead of others, whose queues grow.
			if err := c.Barrier(); err != nil {
				return err
			}
		}
		if c.Rank() == 0 {
			runtime.ReadMemStats(&after)
		}
		return c.Barrier()
	}, mpi.WithTransports(medium))
	return after.Mallocs - before.Mallocs
}
