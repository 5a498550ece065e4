package mpi_test

import (
	"errors"
	"testing"

	"gomx/mpi"
)

// TestLockAtFinalize: a Lock that waits when its own rank calls Finalize ends with that, as all calls do, and so does one that comes later.
func TestLockAtFinalize(t *testing.T) {
	unchecked(t) // another goroutine is in a call
	overMany(t, 2, func(c *mpi.Comm) error {
		w, err := mpi.WinAllocate[int](c, 4)
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			if err := w.Lock(0, true); err != nil {
				return err
			}
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		result := make(chan error, 1)
		if c.Rank() == 1 {
			go func() { result <- w.Lock(0, true) }()
			if err := until(func() error {
				if mpi.LongWaits(c) == 0 {
					return errors.New("the lock is not asked for")
				}
				return nil
			}); err != nil {
				return err
			}
		}
		if err := c.Finalize(); err != nil || c.Rank() == 0 {
			return err
		}
		return errors.Join(wantError(<-result, mpi.ErrFinalized, 1), wantError(w.Lock(0, true), mpi.ErrFinalized, 1))
	})
}
