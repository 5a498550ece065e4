package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"gomx/mpi"
)

func init() { programs["stopped strangers"] = stoppedStrangers }

// TestReportOfConnecting names all ranks that a collective can't connect with.
func TestReportOfConnecting(t *testing.T) { withStopped(t, "stopped strangers", 4) }

// stoppedStrangers has a barrier of rank 0 connect with ranks 2 and 3 while those are stopped. It knows of them by rank 1, which has them go on.
func stoppedStrangers(world *mpi.Comm) error {
	pids := []int{os.Getpid()}
	switch world.Rank() {
	case 0:
		pids = make([]int, 2)
		if _, err := mpi.Recv(world, pids, 1, 1); err != nil {
			return err
		}
		if err := reportOfStopped(world, pids); err != nil {
			return err
		}
	case 1:
		pids = make([]int, 2)
		for i := range pids {
			if _, err := mpi.Recv(world, pids[i:i+1], 2+i, 1); err != nil {
				return err
			}
		}
		if err := mpi.Send(world, pids, 0, 1); err != nil {
			return err
		}
		if _, err := mpi.Recv(world, pids, 0, goTag); err != nil {
			return err
		}
		for rank := 2; rank < 4; rank++ {
			if err := mpi.Send(world, []byte{1}, rank, goTag); err != nil {
				return err
			}
		}
		return world.Barrier()
	default:
		if err := mpi.Send(world, pids, 1, 1); err != nil {
			return err
		}
		if _, err := mpi.Recv(world, make([]byte, 1), 1, goTag); err != nil {
			return err
		}
		return world.Barrier()
	}
	return nil
}

// reportOfStopped stops two processes, and wants a report that names both.
func reportOfStopped(world *mpi.Comm, pids []int) error {
	var patients []*patient
	for _, pid := range pids {
		p := &patient{pid: pid}
		if err := p.stop(); err != nil {
			return err
		}
		patients = append(patients, p)
	}
	met := make(chan error, 1)
	go func() { met <- world.Barrier() }()
	err := until(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		report, err := world.HangReport(ctx)
		if err == nil && !strings.Contains(report.Text, "     0  Barrier to ranks 2-3, world (connects), for ") {
			err = fmt.Errorf("ranks 2 and 3 are not named:\n%s", report.Text)
		}
		return err
	})
	for _, p := range patients {
		err = errors.Join(err, p.resume())
	}
	return errors.Join(err, mpi.Send(world, pids, 1, goTag), <-met)
}
