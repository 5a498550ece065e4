package mpi_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"gomx/mpi"
)

// TestProcessDiesWhileOthersPoll: what it has sent is found, and then Iprobe and Improbe say that nothing more comes.
func TestProcessDiesWhileOthersPoll(t *testing.T) { diesAlone(t, "polled") }

func polledOrphan(world *mpi.Comm) error {
	if world.Rank() == 1 {
		for _, other := range []int{0, 2} {
			if err := mpi.Send(world, []int64{5}, other, 0); err != nil {
				return err
			}
		}
		os.Exit(7)
	}
	end := time.Now().Add(bound)
	for _, source := range []int{1, mpi.AnySource} {
		for name, look := range map[string]func(tag int) (bool, error){
			"Iprobe":  func(tag int) (bool, error) { _, found, err := world.Iprobe(source, tag); return found, err },
			"Improbe": func(tag int) (bool, error) { _, _, found, err := world.Improbe(source, tag); return found, err },
		} {
			found, err := false, error(nil)
			for !found && err == nil && time.Now().Before(end) {
				found, err = look(1)
			}
			if err := wantError(err, mpi.ErrProcFailed, world.Rank()); found || err != nil {
				return fmt.Errorf("%s of rank %d: %v, %w", name, source, found, err)
			}
		}
		if _, found, err := world.Iprobe(source, 0); !found || err != nil {
			return fmt.Errorf("Iprobe of rank %d overlooks what was sent before: %v, %w", source, found, err)
		}
	}
	return part(world)
}
