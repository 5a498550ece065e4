package mpi_test

import (
	"fmt"
	"slices"
	"testing"

	"gomx/mpi"
)

// TestFreedReceiveOfALayout: the elements of a receive that was freed are in their places when the message has arrived, of however many
// blocks, with the checks on or off.
func TestFreedReceiveOfALayout(t *testing.T) {
	frees := func(c *mpi.Comm) error {
		for _, blocks := range []int{1, 2, 255, 256, 257, 1000} {
			if err := freesLayout(c, blocks); err != nil {
				return fmt.Errorf("%d blocks: %w", blocks, err)
			}
		}
		return nil
	}
	for _, checked := range []string{"0", "1"} {
		t.Run("MX_CHECK="+checked, func(t *testing.T) {
			t.Setenv(checking, checked)
			over(t, 2, frees)
		})
	}
}

// freesLayout has rank 0 free a receive before its message comes.
func freesLayout(c *mpi.Comm, blocks int) error {
	l, tag := mpi.Vector(blocks, 2, 3), 5
	buf := make([]int, l.Extent())
	if c.Rank() == 1 {
		for i := range buf {
			buf[i] = i + 1
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		if err := mpi.SendLayout(c, buf, l, 0, tag); err != nil {
			return err
		}
		return mpi.Send(c, []byte{1}, 0, tag)
	}
	want := make([]int, len(buf))
	for i := range want {
		if i%3 != 2 {
			want[i] = i + 1
		}
	}
	q, err := mpi.IrecvLayout(c, buf, l, 1, tag)
	if err != nil {
		return err
	}
	if err := q.Free(); err != nil {
		return err
	}
	if err := c.Barrier(); err != nil {
		return err
	}
	if _, err := mpi.Recv(c, make([]byte, 1), 1, tag); err != nil { // behind it
		return err
	}
	if !slices.Equal(buf, want) {
		return fmt.Errorf("the buffer has %v ..., want %v ...", buf[:3], want[:3])
	}
	return nil
}
