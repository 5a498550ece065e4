package mpi_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mpi"
	"gomx/mx"
)

// TestCountersBesideFree: what is counted for all communicators together never goes down, whenever it is looked at.
func TestCountersBesideFree(t *testing.T) {
	testlength.Long(t)
	sum := func() (n uint64) {
		for _, g := range mx.Snapshot().Groups {
			for _, c := range g.Counters {
				if c.Name == "messages_sent" && g.Layer == "mpi" {
					n += c.Value
				}
			}
		}
		return n
	}
	var over atomic.Bool
	looked := make(chan error, 1)
	world(t, 3, func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			go func() {
				for last := uint64(0); !over.Load(); {
					now := sum()
					if now < last {
						looked <- fmt.Errorf("the sum went from %d to %d", last, now)
						return
					}
					last = now
					time.Sleep(100 * time.Microsecond)
				}
				looked <- nil
			}()
		}
		err := dupsAndFrees(c, 200)
		if err == nil {
			err = c.Barrier()
		}
		if c.Rank() == 0 {
			over.Store(true)
			if failed := <-looked; err == nil {
				err = failed
			}
		}
		if err == nil {
			err = c.Barrier()
		}
		return err
	})
}

// dupsAndFrees sends messages on one communicator after the other.
func dupsAndFrees(c *mpi.Comm, rounds int) error {
	next, last := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	for range rounds {
		dup, err := c.Dup()
		if err != nil {
			return err
		}
		for range 10 {
			if _, err := mpi.Sendrecv(dup, []byte{1}, next, 0, make([]byte, 1), last, 0); err != nil {
				return err
			}
		}
		if err := dup.Free(); err != nil {
			return err
		}
	}
	return nil
}
