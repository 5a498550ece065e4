package mpi_test

import (
	"testing"
	"time"

	"gomx/mpi"
)

// BenchmarkThousandRanks starts a thousand ranks in this process, which reduce 1 KiB a few times. The
// metric is the time of one Allreduce.
func BenchmarkThousandRanks(b *testing.B) {
	for b.Loop() {
		const times = 5
		world(b, 1000, func(c *mpi.Comm) error {
			in, out := make([]float64, 128), make([]float64, 128)
			if err := mpi.Allreduce(c, in, out, mpi.Sum); err != nil { // connects
				return err
			}
			begin := time.Now()
			for range times {
				if err := mpi.Allreduce(c, in, out, mpi.Sum); err != nil {
					return err
				}
			}
			if c.Rank() == 0 {
				b.ReportMetric(float64(time.Since(begin).Microseconds())/1000/times, "ms/allreduce")
			}
			return nil
		})
	}
}
