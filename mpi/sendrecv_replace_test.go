package mpi_test

import (
	"errors"
	"fmt"
	"testing"

	"gomx/mpi"
)

// TestSendrecvReplaceRefusedSendsNothing: a SendrecvReplace that is refused for its source or its receive tag has sent nothing.
func TestSendrecvReplaceRefusedSendsNothing(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		const tag = 4
		if _, err := mpi.SendrecvReplace(c, []int{0}, 1-c.Rank(), tag, 1-c.Rank(), tag); err != nil { // connects
			return err
		}
		if c.Rank() == 1 {
			for _, wrong := range []struct {
				source, tag int
				class       mpi.ErrorClass
			}{{2, 1, mpi.ErrRank}, {-3, 1, mpi.ErrRank}, {0, -5, mpi.ErrTag}, {0, mpi.TagUB + 1, mpi.ErrTag}} {
				if _, err := mpi.SendrecvReplace(c, []int{1}, 0, tag, wrong.source, wrong.tag); !errors.Is(err, wrong.class) {
					return fmt.Errorf("source %d, tag %d: %w", wrong.source, wrong.tag, err)
				}
			}
			return errors.Join(mpi.Send(c, []int{2}, 0, tag), c.Barrier())
		}
		var got [1]int
		if _, err := mpi.Recv(c, got[:], 1, tag); err != nil || got[0] != 2 {
			return fmt.Errorf("%d has come: %w", got[0], err)
		}
		return c.Barrier()
	})
}

// TestSendrecvNotBegunTakesNothing: a Sendrecv whose context ends before it is connected with the receiver leaves the message of the other
// alone, and its buffer.
func TestSendrecvNotBegunTakesNothing(t *testing.T) {
	for name, call := range map[string]func(c *mpi.Comm, b []int64) error{
		"Sendrecv": func(c *mpi.Comm, b []int64) error {
			return second(mpi.Sendrecv(c, []int64{5}, 1, 3, b, mpi.AnySource, 4))
		},
		"SendrecvReplace": func(c *mpi.Comm, b []int64) error { return second(mpi.SendrecvReplace(c, b, 1, 3, mpi.AnySource, 4)) },
	} {
		t.Run(name, func(t *testing.T) {
			world(t, 2, func(c *mpi.Comm) error {
				if c.Rank() == 1 {
					return mpi.Send(c, []int64{7}, 0, 4)
				}
				if _, err := c.Probe(mpi.AnySource, 4); err != nil {
					return err
				}
				b := []int64{1}
				if err := call(c.WithContext(endedContext()), b); !errors.Is(err, mpi.ErrNotBegun) { // they are connected already
					return nil
				} else if b[0] != 1 {
					return fmt.Errorf("error %v, %d in the buffer", err, b[0])
				}
				if _, err := mpi.Recv(c, b, 1, 4); err != nil || b[0] != 7 {
					return fmt.Errorf("the message: %v, %d", err, b[0])
				}
				return nil
			})
		})
	}
}
