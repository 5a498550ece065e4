//go:build linux

package top

import (
	"strings"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mpi"
)

func init() {
	// drip has rank 0 send now and then, so that the other one waits most of the time, but never for long.
	programs["drip"] = func(world *mpi.Comm) error {
		if err := world.Barrier(); err != nil {
			return err
		}
		introduce(world)
		for b := make([]byte, 8); ; {
			var err error
			if world.Rank() == 0 {
				time.Sleep(20 * time.Millisecond)
				err = mpi.Send(world, b, 1, 3)
			} else {
				_, err = mpi.Recv(world, b, 0, 3)
			}
			if err != nil {
				return err
			}
		}
	}
}

// TestHealthyJob: mx_top says of no rank of a job that talks that it waits for another one.
func TestHealthyJob(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	s := play(t, build(t), "drip", 2)
	const readings, most = 10, 3 // on a busy machine a rank may indeed wait for a second
	accused, times := "", 0
	for range readings {
		if text, _ := s.top(t.Context(), t, "-once", "-w", "300ms", "-p", s.these()); strings.Contains(text, "Who waits for whom") {
			accused, times = text, times+1
		}
	}
	if times > most {
		t.Errorf("%d times in %d readings, the last:\n%s", times, readings, accused)
	}
}
