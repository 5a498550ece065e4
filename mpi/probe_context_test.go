package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mpi"
)

// TestIprobeUnderAnEndedContext: a context ends waits, and Iprobe and Improbe wait for nothing.
func TestIprobeUnderAnEndedContext(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		ended := c.WithContext(ctx)
		if c.Rank() == 1 {
			return errors.Join(mpi.Send(c, []byte{1}, 0, 3), c.Barrier(), c.Barrier())
		}
		if _, found, err := ended.Iprobe(1, 4); found || err != nil {
			return fmt.Errorf("Iprobe: %v, %w", found, err)
		}
		if _, _, found, err := ended.Improbe(mpi.AnySource, 4); found || err != nil {
			return fmt.Errorf("Improbe: %v, %w", found, err)
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		if _, err := c.Probe(1, 3); err != nil {
			return err
		}
		m, _, found, err := ended.Improbe(1, 3)
		if !found || err != nil {
			return fmt.Errorf("Improbe of a message that is there: %v, %w", found, err)
		}
		_, err = mpi.Mrecv(m, make([]byte, 1))
		return errors.Join(err, c.Barrier())
	})
}

// TestProbeHeedsItsContext at once: were it looked at ten times a second only, this would take minutes.
func TestProbeHeedsItsContext(t *testing.T) {
	testlength.Long(t)
	amongOthers(t)
	world(t, 1, func(c *mpi.Comm) error {
		for range 1000 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
			_, err := c.WithContext(ctx).Probe(mpi.AnySource, 4)
			if cancel(); !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("probe: %w", err)
			}
		}
		return nil
	})
}
