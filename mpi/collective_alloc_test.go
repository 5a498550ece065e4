package mpi_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mpi"
)

// TestCollectivesDoNotAllocate counts what all ranks of a process allocate in steady state.
func TestCollectivesDoNotAllocate(t *testing.T) {
	testlength.Long(t)
	unchecked(t)
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
			"nonblocking allreduce, Wait": func(c *mpi.Comm, from, to []float64) error {
				q, err := mpi.Iallreduce(c, from, to, mpi.Sum)
				if err == nil {
					_, err = q.Wait()
				}
				return err
			},
			"nonblocking allgather, Test": func(c *mpi.Comm, from, to []float64) error {
				part := len(to) / c.Size()
				q, err := mpi.Iallgather(c, from[:part], to[:part*c.Size()])
				for done := false; !done && err == nil; {
					_, done, err = q.Test()
				}
				return err
			},
			"scan": func(c *mpi.Comm, from, to []float64) error { return mpi.Scan(c, from, to, mpi.Sum) },
		} {
			for _, count := range []int{8, 9_000} {
				t.Run(fmt.Sprintf("%s/%s/%d", medium, name, count), func(t *testing.T) {
					least := allocations(t, medium, calls, count, call)
					if least > calls/4 {
						t.Errorf("%d allocations in %d calls of 3 ranks", least, calls)
					}
				})
			}
		}
	}
}

// allocations counts what 3 ranks allocate in so many calls, after some more. Where it is much, they are called again, later and later: what
// is made when it is first needed, which depends on who is ahead of whom, and what the runtime, or an earlier test that is winding down,
// allocates now and then, is no part of the calls.
func allocations(t *testing.T, medium string, calls, count int, call func(c *mpi.Comm, from, to []float64) error) (least uint64) {
	const warm, windows = 30, 5
	least = 1 << 62
	world(t, 3, func(c *mpi.Comm) error {
		from, to := make([]float64, count), make([]float64, count)
		again := []bool{true}
		err := callInStep(c, warm, from, to, call)
		for window := 0; window < windows && again[0] && err == nil; window++ {
			var before, after runtime.MemStats
			if c.Rank() == 0 {
				runtime.ReadMemStats(&before)
			}
			err = callInStep(c, calls, from, to, call)
			if c.Rank() == 0 {
				runtime.ReadMemStats(&after)
				least = min(least, after.Mallocs-before.Mallocs)
				if again[0] = least > uint64(calls/4); again[0] {
					time.Sleep(time.Duration(window) * 100 * time.Millisecond)
				}
			}
			if err == nil {
				err = mpi.Bcast(c, again, 0)
			}
		}
		return err
	}, mpi.WithTransports(medium))
	return least
}

// callInStep makes calls with a barrier behind each. Without it some ranks would be ahead of others, whose queues grow.
func callInStep(c *mpi.Comm, calls int, from, to []float64, call func(c *mpi.Comm, from, to []float64) error) error {
	for range calls {
		if err := call(c, from, to); err != nil {
			return err
		}
		if err := c.Barrier(); err != nil {
			return err
		}
	}
	return nil
}
