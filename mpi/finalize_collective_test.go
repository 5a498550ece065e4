package mpi_test

import (
	"testing"

	"gomx/mpi"
)

// TestFinalizeBehindACollective has ranks finalize that have begun a collective and not waited for it.
func TestFinalizeBehindACollective(t *testing.T) {
	for _, medium := range []string{"mem", "shm", "tcp"} {
		t.Run(medium, func(t *testing.T) {
			for range 20 {
				world(t, 3, func(c *mpi.Comm) error {
					b := make([]int64, 100_000)
					_, err := mpi.Iallreduce(c, b, b, mpi.Sum)
					return err
				}, mpi.WithTransports(medium))
			}
		})
	}
}
