package mpi_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mpi"
)

// finalizeInVain has a rank give up Finalize when it has said that it comes.
func finalizeInVain(c *mpi.Comm) error {
	_, err := giveUpFinalize(c, 300*time.Millisecond)
	return err
}

// TestHangBehindFinalize: what is left of a Finalize that was given up is no wait of its rank. It neither makes a deadlock of ranks that get on nor
// hides one.
func TestHangBehindFinalize(t *testing.T) {
	testlength.Long(t)
	amongOthers(t)
	unchecked(t)
	const timeout = time.Second
	receive := func(c *mpi.Comm, from int) error {
		_, err := mpi.Recv(c, make([]int64, 1), from, 5)
		return err
	}
	err := run(t, 3, func(c *mpi.Comm) error {
		switch c.Rank() {
		case 0:
			return receive(c, 1)
		case 1:
			return errors.Join(finalizeInVain(c), receive(c, 0))
		}
		return finalizeAtLast(c, unbounded)
	}, mpi.WithHangTimeout(timeout))
	if !errors.Is(err, mpi.ErrAborted) || !strings.Contains(err.Error(), "deadlock: rank 0 waits for rank 1 in Recv") {
		t.Errorf("two ranks that wait for each other, one of which has given up Finalize: %v", err)
	}
	world(t, 3, func(c *mpi.Comm) error {
		switch c.Rank() {
		case 0:
			if err := receive(c, 1); err != nil {
				return err
			}
		case 1:
			if err := finalizeInVain(c); err != nil {
				return err
			}
			time.Sleep(4 * timeout)
			if err := mpi.Send(c, []int64{1}, 0, 5); err != nil {
				return err
			}
		}
		return finalizeAtLast(c, unbounded)
	}, mpi.WithHangTimeout(timeout))
}

// TestHangBesideAWaitForACollective: a rank that waits for a collective of its own waits for that alone, and not for what is left of its Finalize.
func TestHangBesideAWaitForACollective(t *testing.T) {
	testlength.Long(t)
	amongOthers(t)
	unchecked(t)
	const timeout = time.Second
	found := make(chan struct{}) // the deadlock
	err := run(t, 4, func(c *mpi.Comm) error {
		odd, err := c.Split(c.Rank()%2, 0)
		if err != nil {
			return err
		}
		switch c.Rank() {
		case 0:
			<-found // it computes until then
			_, _, err := c.Iprobe(1, 5)
			return err
		case 1:
			defer close(found)
			if err := finalizeInVain(c); err != nil {
				return err
			}
			q, err := odd.Ibarrier()
			if err == nil {
				_, err = q.Wait()
			}
			return err
		case 3:
			err := finalizeInVain(c)
			if err == nil {
				_, err = mpi.Recv(c, make([]int64, 1), 1, 5)
			}
			return err
		}
		return finalizeAtLast(c, unbounded)
	}, mpi.WithHangTimeout(timeout))
	if !errors.Is(err, mpi.ErrAborted) || !strings.Contains(err.Error(), "deadlock: rank 1 waits for rank 3 in Ibarrier") {
		t.Errorf("two ranks that wait for each other, both of which have given up Finalize: %v", err)
	}
}
