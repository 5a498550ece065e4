package mpi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gomx/mpi"
	"gomx/mx"
)

// counted returns the value of a counter of a rank's communicator, by the name or the context that a group is labelled with, summed over
// operations and algorithms.
func counted(rank int, comm, name string) (sum uint64) {
	for _, g := range mx.Snapshot().Groups {
		var ours, named bool
		for _, l := range g.Labels {
			ours = ours || l.Name == "rank" && l.Value == fmt.Sprint(rank)
			named = named || l.Value == comm
		}
		for _, c := range g.Counters {
			if g.Layer == "mpi" && ours && named && c.Name == name {
				sum += c.Value
			}
		}
	}
	return sum
}

// TestCountersOfCommunicators counts messages of two communicators apart, collectives apart from both, and keeps what a
// freed one has counted.
func TestCountersOfCommunicators(t *testing.T) {
	unchecked(t)
	err := mpi.Run(2, func(world *mpi.Comm) error {
		other, err := world.Dup()
		if err != nil {
			return err
		}
		other.SetName("other")
		check := func(comm, name string, want uint64) {
			if got := counted(world.Rank(), comm, name); got != want {
				t.Errorf("rank %d, %s of %s: %d, not %d", world.Rank(), name, comm, got, want)
			}
		}
		buf := make([]int64, 100_000)
		for _, n := range []int{1, len(buf)} {
			if world.Rank() == 0 {
				err = mpi.Send(other, buf[:n], 1, 7)
			} else {
				_, err = mpi.Recv(other, buf[:n], 0, 7)
			}
			if err != nil {
				return err
			}
		}
		check("world", "messages_sent", 0)
		check("world", "messages_received", 0)
		sent, received := uint64(2), uint64(0)
		if world.Rank() == 1 {
			sent, received = received, sent
		}
		check("other", "messages_sent", sent)
		check("other", "sent_bytes", sent*(1+uint64(len(buf)))*8/2)
		check("other", "messages_received", received)
		check("other", "received_bytes", received*(1+uint64(len(buf)))*8/2)
		before := counted(world.Rank(), "other", "collectives")
		for range 3 {
			if err := other.Barrier(); err != nil {
				return err
			}
		}
		check("other", "collectives", before+3)
		if counted(world.Rank(), "other", "collective_messages_sent") == 0 {
			t.Error("a barrier sends messages")
		}
		if err := other.Free(); err != nil {
			return err
		}
		check("other", "messages_sent", 0)
		check("freed", "messages_sent", sent)
		if counted(world.Rank(), "freed", "collectives") < 3 {
			t.Error("the collectives of the freed communicator are not counted any more")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if groups := mx.Snapshot().Groups; len(groups) != 0 {
		t.Errorf("after the job: %v", groups)
	}
}

// TestHangHandler gives a hang to the program in place of printing it.
func TestHangHandler(t *testing.T) {
	reports := make(chan *mpi.HangReport, 10)
	err := mpi.Run(2, func(world *mpi.Comm) error {
		if world.Rank() == 0 {
			report := <-reports
			if !strings.Contains(report.Text, "rank 1") || len(report.JSON) == 0 || report.Deadlock {
				t.Errorf("%+v", report)
			}
			return mpi.Send(world, []byte{1}, 1, 7)
		}
		_, err := mpi.Recv(world, make([]byte, 1), 0, 7)
		return err
	}, mpi.WithHangTimeout(50*time.Millisecond), mpi.WithHangHandler(func(r *mpi.HangReport) { reports <- r }))
	if err != nil {
		t.Fatal(err)
	}
}
