package mpi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gomx/internal/testlength"
	"gomx/mpi"
)

// sizes are lengths, in elements of 4 bytes, at and around the borders between ways to travel.
var sizes = []int{0, 1, 10, 255, 256, 1024, 2048, 2049, 20_000, 100_000}

// TestRing passes messages of all sizes around.
func TestRing(t *testing.T) {
	testlength.Long(t)
	for _, n := range []int{1, 2, 3, 5, 8} {
		over(t, n, ringOnce)
	}
}

// TestRankEndsTheOthers: what one rank returns ends the waits of all, and is all that is reported.
func TestRankEndsTheOthers(t *testing.T) {
	broken := errors.New("out of cheese")
	err := run(t, 4, func(c *mpi.Comm) error {
		if c.Rank() == 2 {
			return broken
		}
		_, err := mpi.Recv(c, make([]byte, 1), 2, 0)
		if !errors.Is(err, mpi.ErrAborted) || !errors.Is(err, broken) {
			return fmt.Errorf("the receive ended with %v", err)
		}
		return err
	})
	if err == nil || err.Error() != "rank 2: out of cheese" {
		t.Errorf("error %v", err)
	}
}

// TestPanicEndsTheOthers does the same by a panic.
func TestPanicEndsTheOthers(t *testing.T) {
	err := run(t, 3, func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			panic("oh dear")
		}
		return mpi.Send(c, make([]byte, 1<<20), 0, 0)
	})
	if err == nil || !strings.Contains(err.Error(), "rank 0: panic: oh dear") {
		t.Errorf("error %v", err)
	}
}
