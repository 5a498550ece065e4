package mpi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gomx/mpi"
)

// TestBadArguments: every wrong argument gets an error that names the call and the rank.
func TestBadArguments(t *testing.T) {
	world(t, 2, func(c *mpi.Comm) error {
		buf := make([]byte, 4)
		text := make([]string, 1)
		_, recvRank := mpi.Recv(c, buf, 2, 0)
		_, recvTag := mpi.Recv(c, buf, 0, mpi.TagUB+1)
		_, recvType := mpi.Recv(c, text, 0, 0)
		_, irecv := mpi.Irecv(c, buf, -5, 0)
		_, isend := mpi.Isend(c, buf, 7, 0)
		var all []error
		for _, c2 := range []struct {
			err   error
			class mpi.ErrorClass
		}{
			{mpi.Send(c, buf, 2, 0), mpi.ErrRank},
			{mpi.Send(c, buf, mpi.AnySource, 0), mpi.ErrRank},
			{mpi.Send(c, buf, 1, -1), mpi.ErrTag},
			{mpi.Send(c, buf, 1, mpi.TagUB+1), mpi.ErrTag},
			{mpi.Send(c, text, 1, 0), mpi.ErrType},
			{recvRank, mpi.ErrRank}, {recvTag, mpi.ErrTag}, {recvType, mpi.ErrType},
			{irecv, mpi.ErrRank}, {isend, mpi.ErrRank},
		} {
			all = append(all, wantError(c2.err, c2.class, c.Rank()))
		}
		return errors.Join(all...)
	})
}

// TestTypesAreNamed: an error about the type of elements names it, interfaces too.
func TestTypesAreNamed(t *testing.T) {
	world(t, 1, func(c *mpi.Comm) error {
		for err, name := range map[error]string{mpi.Send(c, []any{1}, 0, 0): "interface {}", mpi.Send(c, []error{nil}, 0, 0): "error", mpi.Send(c, []string{""}, 0, 0): "string"} {
			if !errors.Is(err, mpi.ErrType) || !strings.Contains(err.Error(), "elements of type "+name+" have") {
				return fmt.Errorf("%w: does not name %s", err, name)
			}
		}
		return nil
	})
}

// TestTruncationNamesTheSender: a receive of anybody's message that was too long names whose it was, and its tag.
func TestTruncationNamesTheSender(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			return errors.Join(mpi.Send(c, []int{1, 2}, 1, 7), mpi.Send(c, []int{1, 2}, 1, 8))
		}
		one := make([]int, 1)
		_, now := mpi.Recv(c, one, mpi.AnySource, mpi.AnyTag)
		q, err := mpi.Irecv(c, one, mpi.AnySource, 8)
		_, later := q.Wait()
		for i, got := range []error{now, later} {
			e, _ := errors.AsType[*mpi.Error](got)
			if !errors.Is(got, mpi.ErrTruncate) || e.Peer != 0 || e.Tag != 7+i {
				err = errors.Join(err, fmt.Errorf("%w: does not name rank 0 and tag %d", got, 7+i))
			}
		}
		return err
	})
}

// TestErrorsOfGroupsNameTheCall: so do those that are found after the ranges have been made ranks.
func TestErrorsOfGroupsNameTheCall(t *testing.T) {
	world(t, 1, func(c *mpi.Comm) error {
		twice := []mpi.RankRange{{0, 0, 1}, {0, 0, 1}}
		_, in := c.Group().RangeIncl(twice...)
		_, out := c.Group().RangeExcl(twice...)
		for op, err := range map[string]error{"RangeIncl": in, "RangeExcl": out} {
			if e, ok := errors.AsType[*mpi.Error](err); !ok || e.Op != op {
				return fmt.Errorf("%w: is not of %s", err, op)
			}
		}
		return nil
	})
}

// TestErrorsOfPartsNameTheBuffer: what is wrong with the parts of a buffer says which one it is, and speaks only of what the call takes.
func TestErrorsOfPartsNameTheBuffer(t *testing.T) {
	world(t, 1, func(c *mpi.Comm) error {
		b, one, two := []int{1}, []int{1}, []int{2}
		for want, err := range map[string]error{
			"0 counts of the parts of send for 1 ranks":                                              mpi.ReduceScatter(c, b, b, []int{}, mpi.Sum),
			"2 displacements of the parts of recv for 1 ranks":                                       mpi.Alltoallv(c, b, one, nil, []int{0}, one, []int{0, 0}),
			"the part of rank 0 in send, count 2 from offset 0 on, does not lie in its length of 1":  mpi.Alltoallv(c, b, two, nil, []int{0}, one, nil),
			"the part of rank 0 in recv, count 1 from offset -1 on, does not lie in its length of 1": mpi.Allgatherv(c, b, []int{0}, one, []int{-1}),
		} {
			if !errors.Is(err, mpi.ErrCount) || !strings.Contains(err.Error(), want) {
				return fmt.Errorf("%w: want %q", err, want)
			}
		}
		return nil
	})
}

func TestNoCommunicator(t *testing.T) {
	var none *mpi.Comm
	if err := mpi.Send(none, []int{1}, 0, 0); !errors.Is(err, mpi.ErrComm) {
		t.Errorf("send: %v", err)
	}
	if _, err := mpi.Recv(none, []string{""}, 0, 0); !errors.Is(err, mpi.ErrComm) {
		t.Errorf("recv: %v", err)
	}
	if err := mpi.Send(&mpi.Comm{}, []int{1}, 0, 0); !errors.Is(err, mpi.ErrComm) {
		t.Errorf("send on an empty one: %v", err)
	}
}

// TestWrongNumbersAreShown: a number that is out of range is not put into the words that it has elsewhere.
func TestWrongNumbersAreShown(t *testing.T) {
	world(t, 2, func(c *mpi.Comm) error {
		odd := make([]int, 3)
		for want, err := range map[string]error{
			"recv has 3 elements, no multiple of 2:": mpi.Allgather(c, odd, odd),
			", with rank -1, tag 0: invalid rank: ":  mpi.Send(c, []int{1}, -1, 0),
			", with rank 0, tag -1: invalid tag: ":   mpi.Send(c, []int{1}, 0, -1),
			"send has 3 elements, no multiple of 2:": mpi.Alltoall(c, make([]int, 3), make([]int, 3)),
		} {
			if err == nil || !strings.Contains(err.Error(), want) {
				return fmt.Errorf("%w, want %q", err, want)
			}
		}
		return nil
	})
}

func TestAfterFinalize(t *testing.T) {
	world(t, 3, func(c *mpi.Comm) error {
		if err := c.Finalize(); err != nil {
			return err
		}
		return errors.Join(wantError(c.Finalize(), mpi.ErrFinalized, c.Rank()),
			wantError(mpi.Send(c, []int{1}, 0, 0), mpi.ErrFinalized, c.Rank()))
	})
}

func TestWorldsOfNoSize(t *testing.T) {
	for _, n := range []int{-1, 0, 1 << 20} {
		if err := mpi.Run(n, func(*mpi.Comm) error { return nil }); !errors.Is(err, mpi.ErrArg) {
			t.Errorf("%d ranks: %v", n, err)
		}
	}
}
