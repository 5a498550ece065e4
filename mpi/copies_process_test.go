package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mpi"
)

func init() {
	programs["last copy"] = lastCopyToTheDead
	programs["copy behind another"] = copyBehindAnother
}

// TestFinalizeReportsAFailedCopy: a rank that sends no other message learns from Finalize of a buffered message that was not received.
func TestFinalizeReportsAFailedCopy(t *testing.T) {
	amongOthers(t)
	for _, transport := range []string{"shm", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			amongOthers(t)
			skipWithout(t, transport)
			for rank, e := range job(t, "last copy", 2, "MX_TRANSPORT="+transport) {
				if want := []int{0, 7}[rank]; e.code != want || e.output != "" {
					t.Errorf("rank %d: exit code %d, %s", rank, e.code, e.output)
				}
			}
		})
	}
}

func lastCopyToTheDead(world *mpi.Comm) error {
	one := make([]int64, 1)
	if world.Rank() == 1 {
		if _, err := mpi.Recv(world, one, 0, 0); err != nil {
			return err
		}
		os.Exit(7)
	}
	if err := errors.Join(mpi.Bsend(world, make([]int64, 50_000), 1, 17), mpi.Send(world, one, 1, 0)); err != nil {
		return err
	}
	err := world.Finalize()
	if err := wantError(err, mpi.ErrProcFailed, 0); err != nil {
		return err
	}
	for _, part := range []string{"earlier Bsend", "with rank 1", "tag 17", "rank 1 of the world"} {
		if !strings.Contains(err.Error(), part) {
			return fmt.Errorf("%q does not name %q", err, part)
		}
	}
	os.Exit(0)
	return nil
}

// TestFinalizeAgainReportsAFailedCopy: a context ends Finalize while the rank waits for one buffered message, and another one has failed. The next
// Finalize reports that.
func TestFinalizeAgainReportsAFailedCopy(t *testing.T) {
	testlength.Long(t)
	amongOthers(t)
	for _, transport := range []string{"shm", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			amongOthers(t)
			skipWithout(t, transport)
			for rank, e := range job(t, "copy behind another", 3, "MX_TRANSPORT="+transport) {
				if want := []int{0, 7, 0}[rank]; e.code != want || e.output != "" {
					t.Errorf("rank %d: exit code %d, %s", rank, e.code, e.output)
				}
			}
		})
	}
}

func copyBehindAnother(world *mpi.Comm) error {
	one, many := make([]int64, 1), make([]int64, 50_000)
	switch world.Rank() {
	case 1:
		if _, err := mpi.Recv(world, one, 0, 0); err != nil {
			return err
		}
		os.Exit(7)
	case 2:
		_, err := mpi.Recv(world, one, 0, goTag)
		if err == nil {
			_, err = mpi.Recv(world, many, 0, 5)
		}
		if err := errors.Join(err, wantFailure(finalizeAtLast(world, unbounded), world, "rank 1 of the world")); err != nil {
			return err
		}
		os.Exit(0)
	}
	if err := errors.Join(mpi.Bsend(world, many, 2, 5), mpi.Bsend(world, many, 1, 17), mpi.Send(world, one, 1, 0)); err != nil {
		return err
	}
	_, err := mpi.Recv(world, one, 1, 0)
	if err := wantError(err, mpi.ErrProcFailed, 0); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := world.WithContext(ctx).Finalize(); !errors.Is(err, mpi.ErrGivenUp) {
		return fmt.Errorf("error %v, want that of the context", err)
	}
	if err := mpi.Send(world, one, 2, goTag); err != nil {
		return err
	}
	if err := world.Finalize(); !errors.Is(err, mpi.ErrProcFailed) || !strings.Contains(err.Error(), "earlier Bsend") || !strings.Contains(err.Error(), "tag 17") {
		return fmt.Errorf("error %v, want that of the earlier Bsend with tag 17", err)
	}
	os.Exit(0)
	return nil
}
