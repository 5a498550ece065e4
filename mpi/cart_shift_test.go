package mpi_test

import (
	"fmt"
	"math"
	"testing"

	"gomx/mpi"
)

// TestShiftFar: a displacement that goes round a periodic dimension often, or beyond the ends of one that has ends.
func TestShiftFar(t *testing.T) {
	over(t, 3, func(c *mpi.Comm) error {
		for _, periodic := range []bool{true, false} {
			g, err := c.Cart([]int{3}, []bool{periodic}, false)
			if err != nil {
				return err
			}
			for _, disp := range []int{math.MaxInt, math.MinInt, math.MaxInt - 1} {
				want := [2]int{mpi.ProcNull, mpi.ProcNull}
				if periodic {
					want = [2]int{(c.Rank() - disp%3 + 3) % 3, (c.Rank() + disp%3 + 3) % 3}
				}
				if source, dest, err := g.Shift(0, disp); err != nil || [2]int{source, dest} != want {
					return fmt.Errorf("rank %d, by %d: %d and %d, want %v, %w", c.Rank(), disp, source, dest, want, err)
				}
			}
			if err := g.Free(); err != nil {
				return err
			}
		}
		return nil
	})
}
